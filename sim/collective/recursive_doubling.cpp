#include "sim/collective/recursive_doubling.hpp"

#include <bit>

namespace syncline {

Program RecursiveDoubling::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, 1}, {}};
    if (ranks == 1) return program;
    const std::uint32_t places = std::bit_floor(ranks);
    const std::uint32_t extra = ranks - places;
    const bool paired = rank < 2 * extra;
    if (paired && rank % 2 == 0) {
        program.steps.push_back({{{rank + 1, 0}}, {}});
        program.steps.push_back({{}, {{rank + 1, 0}}});
        return program;
    }
    if (paired) program.steps.push_back({{}, {{rank - 1, 0}}, true});
    const std::uint32_t place = paired ? rank / 2 : rank - extra;
    for (std::uint32_t distance = 1; distance < places; distance *= 2) {
        const std::uint32_t other = place ^ distance;
        const std::uint32_t partner = other < extra ? 2 * other + 1 : other + extra;
        program.steps.push_back({{{partner, 0}}, {{partner, 0}}, true});
    }
    if (paired) program.steps.push_back({{{rank - 1, 0}}, {}});
    return program;
}

std::optional<double> RecursiveDoubling::cost(std::uint32_t ranks, std::uint64_t bytes,
                                              const MessageCost& message) const {
    const auto size = static_cast<double>(bytes);
    const double transfer = message.alpha_s + size * message.beta_s_per_B;
    const double reduction = size * message.gamma_s_per_B;
    const double doubling = (std::bit_width(ranks) - 1) * (transfer + reduction);
    return std::has_single_bit(ranks) ? doubling : doubling + 2 * transfer + reduction;
}

}  // namespace syncline

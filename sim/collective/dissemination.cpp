#include "sim/collective/dissemination.hpp"

#include <bit>

namespace syncline {

Program Dissemination::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t, std::uint32_t) const {
    Program program{{0, 1}, {}};
    for (std::uint32_t distance = 1; distance < ranks; distance *= 2)
        program.steps.push_back({{{(rank + distance) % ranks, 0}}, {{(rank + ranks - distance) % ranks, 0}}});
    return program;
}

std::optional<double> Dissemination::cost(std::uint32_t ranks, std::uint64_t, const MessageCost& message) const {
    return std::bit_width(ranks - 1) * message.alpha_s;
}

}  // namespace syncline

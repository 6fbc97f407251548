#include "sim/collective/pairwise.hpp"

namespace syncline {

Program PairwiseAllToAll::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    for (std::uint32_t distance = 1; distance < ranks; ++distance) {
        const std::uint32_t to = (rank + distance) % ranks, from = (rank + ranks - distance) % ranks;
        program.steps.push_back({{{to, to}}, {{from, rank}}});
    }
    return program;
}

std::optional<double> PairwiseAllToAll::cost(std::uint32_t ranks, std::uint64_t bytes,
                                             const MessageCost& message) const {
    if (bytes % ranks != 0) return {};
    return (ranks - 1.0) * (message.alpha_s + static_cast<double>(bytes / ranks) * message.beta_s_per_B);
}

}  // namespace syncline

#include "sim/collective/pairwise.hpp"

namespace syncline {

Program PairwiseAllToAll::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    if (ranks == 1) return program;
    const std::uint32_t to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    const Message send{.peer = to, .block = to, .shift = 1, .turn = 1};  // peer and block move on together
    const Message receive{.peer = from, .block = rank, .turn = -1};
    program.steps.push_back({{send}, {receive}, false, ranks - 1});
    return program;
}

std::optional<double> PairwiseAllToAll::cost(std::uint32_t ranks, std::uint64_t bytes,
                                             const MessageCost& message) const {
    if (bytes % ranks != 0) return {};
    return (ranks - 1.0) * (message.alpha_s + static_cast<double>(bytes / ranks) * message.beta_s_per_B);
}

}  // namespace syncline

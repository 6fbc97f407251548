#include "sim/collective/direct.hpp"

namespace syncline {

Program DirectAllToAll::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    if (ranks == 1) return program;
    Step step;
    // Everyone begins with the next rank, so that no one is the first for all.
    for (std::uint32_t distance = 1; distance < ranks; ++distance) {
        const std::uint32_t to = (rank + distance) % ranks, from = (rank + ranks - distance) % ranks;
        step.sends.push_back({to, to});
        step.receives.push_back({from, rank});
    }
    program.steps.push_back(std::move(step));
    return program;
}

std::optional<double> DirectAllToAll::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    if (ranks == 1) return 0;
    const auto block = static_cast<double>(Partition{bytes, ranks}.largest());
    return message.alpha_s + (ranks - 1) * block * message.beta_s_per_B;
}

}  // namespace syncline

#include "sim/collective/ring.hpp"

namespace syncline {

Program RingAllreduce::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    if (ranks == 1) return program;
    const std::uint32_t left = (rank + ranks - 1) % ranks;
    const std::uint32_t right = (rank + 1) % ranks;
    // Block `rank` starts its round here; after the reduce-scatter this rank holds the sum of block rank+1.
    program.steps.push_back({{{right, rank}}, {{left, left}}, true, ranks - 1, -1});
    program.steps.push_back({{{right, right}}, {{left, rank}}, false, ranks - 1, -1});
    return program;
}

std::optional<double> RingAllreduce::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    const double hops = ranks - 1;
    const auto block = static_cast<double>(Partition{bytes, ranks}.largest());
    return 2 * hops * (message.alpha_s + block * message.beta_s_per_B) + hops * block * message.gamma_s_per_B;
}

}  // namespace syncline

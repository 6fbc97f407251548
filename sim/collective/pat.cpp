#include <algorithm>
#include <bit>

#include "sim/collective/factories.hpp"

/// Parallel aggregated trees (PAT): ⌈lg N⌉ steps for any N, as Bruck's (bruck.cpp), but with far peers first, so that
/// the message of half of all blocks goes to the nearest rank.
///
/// Allgather: with d = 2^(⌈lg N⌉-1) … 1 a rank sends to the one d places on its own block, and those that it has from
/// the ranks e places before it, e = 2d, 4d, … < N-d: block by block a binomial tree, truncated to N ranks, whose
/// messages of one step travel together. Reduce-scatter: the same in reverse, with sums.
///
/// With nₖ blocks in step k, Σₖ nₖ = N-1: the allgather takes ⌈lg N⌉α + (N-1)/N·S·β, the reduce-scatter (N-1)/N·S·γ
/// more. If N does not divide S there is no closed form, since the largest set of blocks is another rank's in each
/// step.
///
/// Left out: the buffers of NCCL, of which large exchanges need more than there are, so that they go through the trees
/// in several rounds; they take the same time unless latency counts. Source: S. Jeaugey, "PAT: a new algorithm for
/// all-gather and reduce-scatter operations at scale", arXiv 2506.20252 (2025); NVIDIA NCCL from 2.23.
namespace syncline {

namespace {

/// Returns the distance of the first step of an allgather in a group of several ranks, the last of a reduce-scatter.
std::uint32_t farthest(std::uint32_t ranks) {
    std::uint32_t distance = 1;
    while (2 * distance < ranks) distance *= 2;
    return distance;
}

/// Returns the message at `peer`'s other end with the blocks that `upper` passes on over this distance.
Message passed_on(std::uint32_t upper, std::uint32_t distance, std::uint32_t ranks, std::uint32_t peer) {
    Message message{.peer = peer, .block = upper};
    for (std::uint32_t before = 2 * distance; before + distance < ranks; before += 2 * distance)
        message.more.push_back({(upper + ranks - before) % ranks});
    return message;
}

class Pat : public CollectiveAlgorithm {
public:
    explicit Pat(bool reduces) : reduces_(reduces) {}

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, ranks}, {}};
        if (ranks == 1) return program;
        for (std::uint32_t distance = farthest(ranks); distance > 0; distance /= 2) {
            const std::uint32_t on = (rank + distance) % ranks, back = (rank + ranks - distance) % ranks;
            const Message down = passed_on(rank, distance, ranks, on), up = passed_on(back, distance, ranks, back);
            program.steps.push_back(reduces_ ? Step{{up}, {down}, true} : Step{{down}, {up}});
        }
        if (reduces_) std::reverse(program.steps.begin(), program.steps.end());
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        const Partition partition{bytes, ranks};
        if (!partition.even()) return {};
        const double steps = std::bit_width(ranks - 1), moved = static_cast<double>(partition.size(0, ranks - 1));
        return steps * message.alpha_s + moved * (message.beta_s_per_B + (reduces_ ? message.gamma_s_per_B : 0));
    }

    std::string formula(bool) const override { return reduces_ ? "⌈lg N⌉α + (N-1)/N·S(β+γ)" : "⌈lg N⌉α + (N-1)/N·Sβ"; }

private:
    const bool reduces_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::pat(const AlgorithmSpec& spec, std::uint32_t) {
    return std::make_shared<Pat>(spec.operation == "reduce-scatter");
}

}  // namespace syncline

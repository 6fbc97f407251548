#include "sim/collective/binomial_scatter.hpp"

#include <algorithm>
#include <bit>

namespace syncline {

namespace {

/// Counts the ranks that `rank` heads, itself included, as if the number of ranks were a power of two.
std::uint32_t subtree(std::uint32_t rank, std::uint32_t ranks) {
    return rank == 0 ? std::bit_ceil(ranks) : 1u << std::countr_zero(rank);
}

/// Returns the message to or from the head of a subtree of up to `size` ranks, with their blocks.
Message blocks_below(std::uint32_t head, std::uint32_t size, std::uint32_t peer, std::uint32_t ranks) {
    return {peer, head, std::min(size, ranks - head)};
}

}  // namespace

Program BinomialScatter::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    const std::uint32_t size = subtree(rank, ranks);
    if (rank != 0) program.steps.push_back({{}, {blocks_below(rank, size, rank - size, ranks)}});
    for (std::uint32_t below = size / 2; below > 0; below /= 2) {
        const std::uint32_t child = rank + below;
        if (child < ranks) program.steps.push_back({{blocks_below(child, below, child, ranks)}, {}});
    }
    return program;
}

std::optional<double> BinomialScatter::cost(std::uint32_t ranks, std::uint64_t bytes,
                                            const MessageCost& message) const {
    if (bytes % ranks != 0) return {};
    return std::bit_width(ranks - 1) * message.alpha_s +
           static_cast<double>(bytes - bytes / ranks) * message.beta_s_per_B;
}

Program BinomialGather::program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const {
    Program program{{bytes, ranks}, {}};
    const std::uint32_t size = subtree(rank, ranks);
    for (std::uint32_t below = 1; below < size; below *= 2) {
        const std::uint32_t child = rank + below;
        if (child < ranks) program.steps.push_back({{}, {blocks_below(child, below, child, ranks)}});
    }
    if (rank != 0) program.steps.push_back({{blocks_below(rank, size, rank - size, ranks)}, {}});
    return program;
}

std::optional<double> BinomialGather::cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const {
    return BinomialScatter().cost(ranks, bytes, message);
}

}  // namespace syncline

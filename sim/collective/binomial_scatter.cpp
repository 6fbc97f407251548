#include <algorithm>
#include <bit>

#include "sim/collective/factories.hpp"

/// Scatter and gather over the binomial tree, root 0: a message holds the blocks of a whole subtree.
///
/// Rank r with lowest set bit 2^k is a child of r - 2^k and heads ranks r … r + 2^k - 1, as far as these exist. The
/// scatter sends the largest subtree first, the gather receives the smallest first. There are N-1 messages; the root
/// sends or receives ⌈lg N⌉ of them in turn, all blocks except its own. If N divides S, no child takes longer than the
/// root does concurrently: ⌈lg N⌉α + (N-1)/N·S·β. Otherwise subtrees with equal numbers of blocks differ by a byte, a
/// child may take longer, and there is no closed form. If α travels it counts ⌊lg N⌋ times, as in binomial_tree.cpp.
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
/// collective communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
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

class BinomialScatter : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, ranks}, {}};
        const std::uint32_t size = subtree(rank, ranks);
        if (rank != 0) program.steps.push_back({{}, {blocks_below(rank, size, rank - size, ranks)}});
        for (std::uint32_t below = size / 2; below > 0; below /= 2) {
            const std::uint32_t child = rank + below;
            if (child < ranks) program.steps.push_back({{blocks_below(child, below, child, ranks)}, {}});
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        if (bytes % ranks != 0) return {};
        const auto hops = static_cast<double>(message.travels ? std::bit_width(ranks) - 1 : std::bit_width(ranks - 1));
        return hops * message.alpha_s + static_cast<double>(bytes - bytes / ranks) * message.beta_s_per_B;
    }

    std::string formula(bool travels) const override {
        return travels ? "⌊lg N⌋α + (N-1)/N·Sβ" : "⌈lg N⌉α + (N-1)/N·Sβ";
    }
};

class BinomialGather : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, ranks}, {}};
        const std::uint32_t size = subtree(rank, ranks);
        for (std::uint32_t below = 1; below < size; below *= 2) {
            const std::uint32_t child = rank + below;
            if (child < ranks) program.steps.push_back({{}, {blocks_below(child, below, child, ranks)}});
        }
        if (rank != 0) program.steps.push_back({{blocks_below(rank, size, rank - size, ranks)}, {}});
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        return BinomialScatter().cost(ranks, bytes, message);
    }

    std::string formula(bool travels) const override { return BinomialScatter().formula(travels); }
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::binomial_scatter(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<BinomialScatter>();
}

std::shared_ptr<const CollectiveAlgorithm> algorithms::binomial_gather(const AlgorithmSpec&, std::uint32_t) {
    return std::make_shared<BinomialGather>();
}

}  // namespace syncline

#pragma once

#include "sim/collective/algorithm.hpp"

/// Scatter and gather over the binomial tree, root 0: a message holds the blocks of a whole subtree.
///
/// Rank r with lowest set bit 2^k is a child of r - 2^k and heads ranks r … r + 2^k - 1, as far as these exist. The
/// scatter sends the largest subtree first, the gather receives the smallest first. There are N-1 messages; the root
/// sends or receives ⌈lg N⌉ of them in turn, all blocks except its own. If N divides S, no child takes longer than the
/// root does concurrently: ⌈lg N⌉α + (N-1)/N·S·β. Otherwise subtrees with equal numbers of blocks differ by a byte, a
/// child may take longer, and there is no closed form. Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
/// collective communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
namespace syncline {

class BinomialScatter : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "⌈lg N⌉α + (N-1)/N·Sβ"; }
};

class BinomialGather : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return BinomialScatter().formula(); }
};

}  // namespace syncline

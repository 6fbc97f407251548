#pragma once

#include "sim/collective/tree.hpp"

/// Binomial tree: a rank's parent has the same number without its lowest set bit.
///
/// In a broadcast every rank that has the buffer sends it on in every step, the root first to the rank half of all
/// places away, then to the rank at a quarter, and so on: ⌈lg N⌉(α + S·β), for any N. A reduction is the same
/// backwards, with the nearest rank first: ⌈lg N⌉(α + S·β + S·γ). N - 1 messages of S bytes each way; an all-reduce is
/// a reduction and then a broadcast. Rank 1 is the last to be served and the first to send for any N, so ranks that are
/// missing from a full tree change nothing. Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective
/// communication operations in MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
namespace syncline {

class BinomialTree : public CollectiveAlgorithm {
public:
    explicit BinomialTree(TreeOperation operation) : operation_(operation) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return tree_formula(operation_, "⌈lg N⌉", "S"); }

private:
    TreeOperation operation_;
};

}  // namespace syncline

#pragma once

#include "sim/collective/algorithm.hpp"

/// Hierarchical all-reduce that splits the buffer: ring reduce-scatter inside the innermost groups, then the ranks with
/// the same place in their groups continue with their block at the next level, a ring all-reduce at the outermost
/// level, and ring allgathers on the way back.
///
/// Levels have g1, g2, … members, innermost first; rank i + g1·(j + g2·…) is the i-th of its innermost group. All ranks
/// work at every level, and the slower outer networks carry only S/(g1·g2·…). Every level is a ring, whatever pattern
/// the overlay gives it; one level is the plain ring. 2(N-1)·S bytes in all, as with the ring.
///
/// Time Σ 2(gᵢ-1)(α + cᵢ·β) + (gᵢ-1)·cᵢ·γ with the largest blocks cᵢ = ⌈S/(g1·…·gᵢ)⌉. That is exact even if blocks
/// differ: the last block is a largest one at every level, travels all the way, and no step is longer. Source: X. Jia
/// et al., "Highly scalable deep learning training system with mixed-precision", arXiv 1807.11205, 2018; Horovod's and
/// NCCL's hierarchical all-reduce.
namespace syncline {

class Hierarchical : public CollectiveAlgorithm {
public:
    /// Uses an overlay for `ranks`. Throws AlgorithmError on key "overlay" unless all groups of a level have the same
    /// size.
    Hierarchical(const std::vector<HierarchyLevel>& levels, std::uint32_t ranks);
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return "Σ 2(gᵢ-1)(α + ⌈S/(g₁…gᵢ)⌉β) + (gᵢ-1)⌈S/(g₁…gᵢ)⌉γ"; }

private:
    std::vector<std::uint32_t> sizes_;  ///< innermost first
};

}  // namespace syncline

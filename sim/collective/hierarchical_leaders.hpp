#pragma once

#include "sim/collective/algorithm.hpp"
#include "sim/collective/overlay.hpp"

/// Hierarchical all-reduce through leaders: each group reduces to its first member, the groups' leaders form the groups
/// of the next level, and the result comes back down the same way.
///
/// A group reduces and broadcasts over the breadth-first tree of its pattern (star and full mesh: directly with the
/// leader). At the outermost level a ring pattern is a ring all-reduce among the leaders, any other pattern is again a
/// reduction and a broadcast. Groups may be of any size; the last group of a level takes the remaining ranks. Every
/// rank except the outermost leaders sends and receives the buffer once.
///
/// Time if every group's tree has one level: Σ 2α + (gᵢ-1)·S·(2β + γ) with the sizes gᵢ of the first groups, and for a
/// ring of p leaders 2(p-1)(α + ⌈S/p⌉β) + (p-1)⌈S/p⌉γ in place of its level. Smaller last groups change nothing: a
/// leader starts a level when all ranks below it are done, and the first leader is never the last. There is no closed
/// form for deeper trees. Source: the two-level all-reduce of MPI libraries, e.g. H. Zhu, D. Goodell, W. Gropp, R.
/// Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009; the times follow from the links' capacities.
namespace syncline {

class HierarchicalLeaders : public CollectiveAlgorithm {
public:
    /// Uses an overlay for `ranks`. Throws AlgorithmError on key "overlay" if a smaller group does not fit its pattern.
    HierarchicalLeaders(const std::vector<HierarchyLevel>& levels, std::uint32_t ranks);
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override;

private:
    struct Level {
        std::uint32_t size = 1;     ///< of all groups except possibly the last
        std::uint32_t members = 1;  ///< of all groups together
        SpanningTree tree, last_tree;

        const SpanningTree& tree_of(std::uint32_t member) const {
            return member / size == members / size ? last_tree : tree;
        }
    };
    std::vector<Level> levels_;       ///< innermost first, without a ring at the top
    std::uint32_t ring_leaders_ = 1;  ///< number of leaders at the top; 1: no ring
};

}  // namespace syncline

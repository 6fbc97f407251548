#pragma once

#include "sim/collective/overlay.hpp"
#include "sim/collective/tree.hpp"

/// Pipelined tree: all segments are sent over a spanning tree, and each rank serves its children in turn.
///
/// The buffer is cut into m segments, as few as keep each within the given size. In a broadcast a rank sends segment i
/// to its first child, then to its second, ..., and receives segment i+1 from its parent meanwhile: the j-th child of v
/// gets its first segment in step a(v) + j, with a(root) = 0. A reduction is the mirror image, last child first; in an
/// all-reduce the result starts down when the root has all of it. N-1 times S bytes each way. The tree is the overlay's
/// breadth-first tree from rank 0. Over a star this is a reduction at rank 0 and a broadcast from there, like a
/// parameter server on the workers' own network.
///
/// Time with the largest A of a(v), the maximum number k of children of a rank, and equal segments of c bytes: A +
/// k(m-1) steps of α + c·β each, with c·γ for a reduction (see tree.hpp). This number of steps is always enough. No
/// fewer are possible if there is one segment only, or if a rank w with k children is on the path to a last one: its
/// k·m messages leave one after the other, and the last starts at least a(w) + k(m-1) steps from the beginning. In the
/// default tree, whose ranks are numbered level by level, that rank is the root, so there is a closed form for any N
/// and arity. Over one level the time is k(m·α + S·β) even if segments differ by a byte. There is no closed form for
/// other unequal segments, and for trees without such a rank. Source: the pipelined trees of J. Pješivac-Grbić et al.,
/// "Performance analysis of MPI collective operations", Cluster Computing 10 (2007) 127-143.
namespace syncline {

class PipelinedTree : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: one segment.
    PipelinedTree(TreeOperation operation, SpanningTree tree, double segment_bytes);
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override;
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override;
    std::string formula() const override { return tree_formula(operation_, "(A + k(m-1))", "c"); }

private:
    TreeSchedule schedule(std::uint64_t bytes) const;

    TreeOperation operation_;
    SpanningTree tree_;
    double segment_bytes_;
    std::vector<std::uint32_t> first_step_;  ///< a, by rank
    std::uint32_t last_ = 0;                 ///< A
    std::uint32_t most_children_ = 0;        ///< k
    bool busiest_on_longest_way_ = false;    ///< if true, there is a closed form
};

}  // namespace syncline

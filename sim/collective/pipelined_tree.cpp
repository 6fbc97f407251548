#include <algorithm>

#include "sim/collective/factories.hpp"
#include "sim/collective/overlay.hpp"
#include "sim/collective/segments.hpp"
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

namespace {

class PipelinedTree : public CollectiveAlgorithm {
public:
    /// `segment_bytes` 0: one segment.
    PipelinedTree(TreeOperation operation, SpanningTree tree, double segment_bytes)
        : operation_(operation),
          tree_(std::move(tree)),
          segment_bytes_(segment_bytes),
          first_step_(tree_.parent.size(), 0) {
        std::vector<std::uint32_t> order{0};
        for (std::size_t next = 0; next < order.size(); ++next) {
            const std::vector<std::uint32_t>& children = tree_.children[order[next]];
            for (std::uint32_t j = 0; j < children.size(); ++j)
                first_step_[children[j]] = first_step_[order[next]] + j + 1;
            order.insert(order.end(), children.begin(), children.end());
            most_children_ = std::max(most_children_, static_cast<std::uint32_t>(children.size()));
        }
        std::vector<std::uint32_t> latest_below = first_step_;
        for (auto rank = order.rbegin(); rank != order.rend(); ++rank) {
            std::uint32_t& above = latest_below[tree_.parent[*rank]];
            above = std::max(above, latest_below[*rank]);
        }
        last_ = latest_below[0];
        for (const std::uint32_t rank : order)
            busiest_on_longest_way_ |= tree_.children[rank].size() == most_children_ && latest_below[rank] == last_;
    }

    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const override {
        const TreeSchedule steps = schedule(bytes);
        std::vector<Hop> hops;
        if (rank != 0) hops.push_back({tree_.parent[rank], 0, first_step_[rank], false});
        for (const std::uint32_t child : tree_.children[rank]) hops.push_back({child, 0, first_step_[child], true});
        return tree_program(operation_, {bytes, steps.segments}, hops, steps);
    }

    std::optional<double> cost(std::uint32_t, std::uint64_t bytes, const MessageCost& message) const override {
        const TreeSchedule steps = schedule(bytes);
        const bool one_level = last_ == most_children_, equal = bytes % steps.segments == 0;
        if (steps.segments > 1 && !(busiest_on_longest_way_ && (one_level || equal))) return {};
        return tree_cost(operation_, steps.steps(), static_cast<double>(bytes) / steps.segments, message);
    }

    std::string formula() const override { return tree_formula(operation_, "(A + k(m-1))", "c"); }

private:
    TreeSchedule schedule(std::uint64_t bytes) const {
        return {most_children_, last_, segment_count(bytes, segment_bytes_)};
    }

    TreeOperation operation_;
    SpanningTree tree_;
    double segment_bytes_;
    std::vector<std::uint32_t> first_step_;  ///< a, by rank
    std::uint32_t last_ = 0;                 ///< A
    std::uint32_t most_children_ = 0;        ///< k
    bool busiest_on_longest_way_ = false;    ///< if true, there is a closed form
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::pipelined_tree(const AlgorithmSpec& spec, std::uint32_t ranks) {
    SpanningTree tree = spanning_tree(make_overlay(overlay_or(spec, Shape::tree, false), ranks));
    return std::make_shared<PipelinedTree>(tree_operation(spec), std::move(tree), spec.segment_bytes);
}

}  // namespace syncline

#include <algorithm>
#include <set>

#include "sim/collective/factories.hpp"
#include "sim/collective/overlay.hpp"
#include "sim/collective/segments.hpp"
#include "sim/collective/tree_steps.hpp"

/// Pipelined tree: all segments are sent over a spanning tree, and each rank serves its children in turn.
///
/// The buffer is cut into m segments, as few as keep each within the given size. In a broadcast a rank sends segment i
/// to its first child, then to its second, ..., and receives segment i+1 from its parent meanwhile: the j-th child of v
/// gets its first segment in step a(v) + j, with a(root) = 0. A reduction is the mirror image, last child first; in an
/// all-reduce the result starts down when the root has all of it. N-1 times S bytes each way. The tree is the overlay's
/// breadth-first tree from rank 0. Over a star this is a reduction at rank 0 and a broadcast from there, like a
/// parameter server on the workers' own network.
///
/// Time with the largest A of a(v), the maximum number k of children of a rank, and equal segments of c bytes, if α
/// blocks: A + k(m-1) steps of α + c·β each, with c·γ for a reduction (see tree_steps.hpp). This number of steps is
/// always enough. No fewer are possible if there is one segment only, or if a rank w with k children is on the path to
/// a last one: its k·m messages leave one after the other, and the last starts at least a(w) + k(m-1) steps from the
/// beginning. In the default tree, whose ranks are numbered level by level, that rank is the root, so there is a closed
/// form for any N and arity. Over one level the time is k(m·α + S·β) even if segments differ by a byte. There is no
/// closed form for other unequal segments, and for trees without such a rank.
///
/// If α travels, v gets segment i (from 0) in a broadcast after (a(v) + k(v)·i)c·β + h(v)α, where k(v) is the maximum
/// number of children of the ranks above v, and h(v) the number of these: v's first child gets it c·β + α later, its
/// j-th child j·c·β + α, unless v is still busy with earlier segments, which then follow at its own pace. The time is
/// the maximum over v for the last segment; in the default chain (N-1 + m-1)c·β + (N-1)α. A reduction without γ is the
/// same backwards; with γ there is a closed form for one segment, in which each rank adds its children's data in turn
/// while the next arrives, and for chains: (N-1)α + (N+m-2)(c·β + c·γ) with N > 2. Source: the pipelined trees of J.
/// Pješivac-Grbić et al., "Performance analysis of MPI collective operations", Cluster Computing 10 (2007) 127-143.
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
        order_.push_back(0);
        for (std::size_t next = 0; next < order_.size(); ++next) {
            const std::vector<std::uint32_t>& children = tree_.children[order_[next]];
            for (std::uint32_t j = 0; j < children.size(); ++j)
                first_step_[children[j]] = first_step_[order_[next]] + j + 1;
            order_.insert(order_.end(), children.begin(), children.end());
            most_children_ = std::max(most_children_, static_cast<std::uint32_t>(children.size()));
        }
        std::vector<std::uint32_t> levels(tree_.parent.size(), 0), most_above(tree_.parent.size(), 0);
        for (const std::uint32_t rank : order_) {
            if (rank != 0) {
                const std::uint32_t parent = tree_.parent[rank];
                levels[rank] = levels[parent] + 1;
                most_above[rank] =
                    std::max(most_above[parent], static_cast<std::uint32_t>(tree_.children[parent].size()));
            }
            if (tree_.children[rank].empty()) ways_.insert({first_step_[rank], levels[rank], most_above[rank]});
        }
        std::vector<std::uint32_t> latest_below = first_step_;
        for (auto rank = order_.rbegin(); rank != order_.rend(); ++rank) {
            std::uint32_t& above = latest_below[tree_.parent[*rank]];
            above = std::max(above, latest_below[*rank]);
        }
        last_ = latest_below[0];
        for (const std::uint32_t rank : order_)
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
        if (message.travels) {
            if (last_ == 0) return 0;
            if (steps.segments > 1 && !one_level && !equal) return {};
            return travelling_cost(steps.segments, static_cast<double>(bytes) / steps.segments, message);
        }
        if (steps.segments > 1 && !(busiest_on_longest_way_ && (one_level || equal))) return {};
        return tree_cost(operation_, steps.steps(), static_cast<double>(bytes) / steps.segments, message);
    }

    std::string formula(bool travels) const override {
        if (!travels) return tree_formula(operation_, "(A + k(m-1))", "c");
        return operation_ == TreeOperation::allreduce ? "2·max over ranks of (a + k(m-1))cβ + hα"
                                                      : "max over ranks of (a + k(m-1))cβ + hα";
    }

private:
    /// Ranks without children that get their segments after the same time.
    struct Way {
        std::uint32_t first_step = 0, levels = 0, most_children = 0;
        auto operator<=>(const Way&) const = default;
    };

    std::optional<double> travelling_cost(std::uint32_t segments, double bytes, const MessageCost& message) const {
        double down = 0;
        for (const Way& way : ways_)
            down =
                std::max(down, (way.first_step + way.most_children * (segments - 1.0)) * bytes * message.beta_s_per_B +
                                   way.levels * message.alpha_s);
        if (operation_ == TreeOperation::broadcast) return down;
        std::optional<double> up = down;
        if (message.gamma_s_per_B > 0) up = travelling_reduction(segments, bytes, message);
        if (!up || operation_ == TreeOperation::reduce) return up;
        return *up + down;
    }

    std::optional<double> travelling_reduction(std::uint32_t segments, double bytes, const MessageCost& message) const {
        const double transfer = bytes * message.beta_s_per_B, reduction = bytes * message.gamma_s_per_B;
        if (segments > 1) {
            const auto ranks = static_cast<double>(order_.size());
            if (most_children_ > 1) return {};
            const double step = ranks > 2 ? transfer + reduction : std::max(transfer, reduction);
            return (ranks - 1) * (message.alpha_s + transfer + reduction) + (segments - 1) * step;
        }
        // By rank: the time at which it has the sum of its subtree.
        std::vector<double> done(order_.size(), 0);
        for (auto rank = order_.rbegin(); rank != order_.rend(); ++rank) {
            double wires_free = 0;
            const std::vector<std::uint32_t>& children = tree_.children[*rank];
            for (auto child = children.rbegin(); child != children.rend(); ++child) {
                wires_free = std::max(wires_free, done[*child]) + transfer;
                done[*rank] = std::max(done[*rank], wires_free + message.alpha_s) + reduction;
            }
        }
        return done[0];
    }

    TreeSchedule schedule(std::uint64_t bytes) const {
        return {most_children_, last_, segment_count(bytes, segment_bytes_)};
    }

    TreeOperation operation_;
    SpanningTree tree_;
    double segment_bytes_;
    std::vector<std::uint32_t> first_step_;  ///< a, by rank
    std::uint32_t last_ = 0;                 ///< A
    std::uint32_t most_children_ = 0;        ///< k
    bool busiest_on_longest_way_ = false;    ///< if true, there is a closed form if α blocks
    std::vector<std::uint32_t> order_;       ///< parents before children
    std::set<Way> ways_;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::pipelined_tree(const AlgorithmSpec& spec, std::uint32_t ranks) {
    SpanningTree tree = spanning_tree(make_overlay(overlay_or(spec, Shape::tree, false), ranks));
    return std::make_shared<PipelinedTree>(tree_operation(spec), std::move(tree), spec.segment_bytes);
}

}  // namespace syncline

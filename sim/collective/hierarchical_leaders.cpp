#include <algorithm>

#include "sim/collective/factories.hpp"
#include "sim/collective/overlay.hpp"
#include "sim/collective/ring.hpp"

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
/// form for deeper trees; nor, if α travels, where the last group of a level is a smaller one, because its leader's
/// data comes early enough to follow that of the leader's own group on the wires. Source: the two-level all-reduce of
/// MPI libraries, e.g. H. Zhu, D. Goodell, W. Gropp, R. Thakur, "Hierarchical collectives in MPICH2", EuroPVM/MPI 2009;
/// the times follow from the links' capacities.
namespace syncline {

namespace {

SpanningTree pattern_tree(Shape pattern, std::uint32_t size) {
    TopologySpec spec;
    spec.shape = pattern;
    return spanning_tree(make_overlay(spec, size));
}

class HierarchicalLeaders : public CollectiveAlgorithm {
public:
    /// Uses an overlay for `ranks`. Throws AlgorithmError on key "overlay" if a smaller group does not fit its pattern.
    HierarchicalLeaders(const std::vector<HierarchyLevel>& levels, std::uint32_t ranks) {
        std::uint32_t members = ranks;
        for (const HierarchyLevel& level : levels) {
            if (&level == &levels.back() && level.pattern == Shape::ring) {
                ring_leaders_ = members;
                return;
            }
            const auto size =
                static_cast<std::uint32_t>(level.size == 0 ? members : std::min<std::int64_t>(level.size, members));
            const std::uint32_t rest = members % size;
            levels_.push_back({size, members, pattern_tree(level.pattern, size),
                               rest == 0 ? SpanningTree{} : pattern_tree(level.pattern, rest)});
            members = (members + size - 1) / size;
        }
    }

    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const override {
        Program program{{bytes, ring_leaders_}, {}};
        const auto exchange = [&](std::vector<Message> sends, std::vector<Message> receives, bool reduce) {
            if (!sends.empty() || !receives.empty())
                program.steps.push_back({std::move(sends), std::move(receives), reduce});
        };
        struct Relatives {
            std::vector<Message> above, below;
        };
        std::vector<Relatives> of_level;  // only levels that this rank takes part in
        std::uint32_t stride = 1;
        bool leads = true;
        for (const Level& level : levels_) {
            const std::uint32_t member = rank / stride, place = member % level.size;
            const SpanningTree& tree = level.tree_of(member);
            const auto whole_buffer = [&](std::uint32_t other) {
                return Message{(member - place + other) * stride, 0, ring_leaders_};
            };
            Relatives relatives;
            if (place != 0) relatives.above.push_back(whole_buffer(tree.parent[place]));
            for (const std::uint32_t child : tree.children[place]) relatives.below.push_back(whole_buffer(child));
            exchange({}, relatives.below, true);
            exchange(relatives.above, {}, false);
            of_level.push_back(std::move(relatives));
            leads = place == 0;
            if (!leads) break;
            stride *= level.size;
        }
        if (leads) {
            for (Step step : RingAllreduce().program(rank / stride, ring_leaders_, bytes, 0).steps) {
                for (Message& message : step.sends) message.peer *= stride;
                for (Message& message : step.receives) message.peer *= stride;
                program.steps.push_back(std::move(step));
            }
        }
        for (auto relatives = of_level.rbegin(); relatives != of_level.rend(); ++relatives) {
            exchange({}, relatives->above, false);
            exchange(relatives->below, {}, false);
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t, std::uint64_t bytes, const MessageCost& message) const override {
        double total = *RingAllreduce().cost(ring_leaders_, bytes, message);
        for (const Level& level : levels_) {
            const bool direct = level.tree.children[0].size() == level.size - 1 &&
                                (level.last_tree.children.empty() ||
                                 level.last_tree.children[0].size() == level.last_tree.children.size() - 1);
            if (!direct) return {};
            if (message.travels && !level.last_tree.parent.empty()) return {};
            if (level.size == 1) continue;
            total += 2 * message.alpha_s +
                     (level.size - 1) * static_cast<double>(bytes) * (2 * message.beta_s_per_B + message.gamma_s_per_B);
        }
        return total;
    }

    std::string formula(bool) const override {
        const std::string tree = "Σ 2α + (gᵢ-1)S(2β + γ)";
        return ring_leaders_ == 1 ? tree : tree + " + 2(p-1)(α + ⌈S/p⌉β) + (p-1)⌈S/p⌉γ";
    }

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

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::hierarchical_leaders(const AlgorithmSpec& spec,
                                                                            std::uint32_t ranks) {
    return std::make_shared<HierarchicalLeaders>(hierarchy(spec, ranks), ranks);
}

}  // namespace syncline

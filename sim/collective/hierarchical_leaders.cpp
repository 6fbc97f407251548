#include "sim/collective/hierarchical_leaders.hpp"

#include <algorithm>

#include "sim/collective/ring.hpp"

namespace syncline {

namespace {

SpanningTree pattern_tree(Shape pattern, std::uint32_t size) {
    TopologySpec spec;
    spec.shape = pattern;
    return spanning_tree(make_overlay(spec, size));
}

}  // namespace

HierarchicalLeaders::HierarchicalLeaders(const std::vector<HierarchyLevel>& levels, std::uint32_t ranks) {
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

Program HierarchicalLeaders::program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const {
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

std::optional<double> HierarchicalLeaders::cost(std::uint32_t, std::uint64_t bytes, const MessageCost& message) const {
    double total = *RingAllreduce().cost(ring_leaders_, bytes, message);
    for (const Level& level : levels_) {
        const bool direct = level.tree.children[0].size() == level.size - 1 &&
                            (level.last_tree.children.empty() ||
                             level.last_tree.children[0].size() == level.last_tree.children.size() - 1);
        if (!direct) return {};
        if (level.size == 1) continue;
        total += 2 * message.alpha_s +
                 (level.size - 1) * static_cast<double>(bytes) * (2 * message.beta_s_per_B + message.gamma_s_per_B);
    }
    return total;
}

std::string HierarchicalLeaders::formula() const {
    const std::string tree = "Σ 2α + (gᵢ-1)S(2β + γ)";
    return ring_leaders_ == 1 ? tree : tree + " + 2(p-1)(α + ⌈S/p⌉β) + (p-1)⌈S/p⌉γ";
}

}  // namespace syncline

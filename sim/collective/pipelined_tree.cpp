#include "sim/collective/pipelined_tree.hpp"

#include <algorithm>

#include "sim/collective/segments.hpp"

namespace syncline {

PipelinedTree::PipelinedTree(TreeOperation operation, SpanningTree tree, double segment_bytes)
    : operation_(operation),
      tree_(std::move(tree)),
      segment_bytes_(segment_bytes),
      first_step_(tree_.parent.size(), 0) {
    std::vector<std::uint32_t> order{0};
    for (std::size_t next = 0; next < order.size(); ++next) {
        const std::vector<std::uint32_t>& children = tree_.children[order[next]];
        for (std::uint32_t j = 0; j < children.size(); ++j) first_step_[children[j]] = first_step_[order[next]] + j + 1;
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

TreeSchedule PipelinedTree::schedule(std::uint64_t bytes) const {
    return {most_children_, last_, segment_count(bytes, segment_bytes_)};
}

Program PipelinedTree::program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const {
    const TreeSchedule steps = schedule(bytes);
    std::vector<Hop> hops;
    if (rank != 0) hops.push_back({tree_.parent[rank], 0, first_step_[rank], false});
    for (const std::uint32_t child : tree_.children[rank]) hops.push_back({child, 0, first_step_[child], true});
    return tree_program(operation_, {bytes, steps.segments}, hops, steps);
}

std::optional<double> PipelinedTree::cost(std::uint32_t, std::uint64_t bytes, const MessageCost& message) const {
    const TreeSchedule steps = schedule(bytes);
    const bool one_level = last_ == most_children_, equal = bytes % steps.segments == 0;
    if (steps.segments > 1 && !(busiest_on_longest_way_ && (one_level || equal))) return {};
    return tree_cost(operation_, steps.steps(), static_cast<double>(bytes) / steps.segments, message);
}

}  // namespace syncline

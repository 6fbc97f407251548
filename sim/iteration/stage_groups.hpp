#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/lowering/grouping.hpp"
#include "sim/taskgraph/task_graph.hpp"

namespace syncline {

/// Groups of processes among the ranks of each stage, each of which is added to the graph once.
class StageGroups {
public:
    /// All arguments must outlive it.
    StageGroups(TaskGraph& graph, const std::vector<ProcessId>& workers, std::uint32_t stage_ranks)
        : graph_(graph), workers_(workers), stage_ranks_(stage_ranks) {}

    /// Returns the group of a stage that begins with the index `first`.
    GroupId of(std::uint32_t stage, const Grouping& grouping, std::uint32_t first) {
        const auto [found, added] = groups_.try_emplace({stage, {grouping, first}});
        if (added) {
            std::vector<ProcessId> members;
            for (std::uint32_t member = 0; member < grouping.size; ++member)
                members.push_back(workers_[stage * stage_ranks_ + grouping.index(first, member)]);
            found->second = graph_.add_group(std::move(members));
        }
        return found->second;
    }

private:
    TaskGraph& graph_;
    const std::vector<ProcessId>& workers_;
    const std::uint32_t stage_ranks_;
    std::map<std::pair<std::uint32_t, std::pair<Grouping, std::uint32_t>>, GroupId> groups_;
};

}  // namespace syncline

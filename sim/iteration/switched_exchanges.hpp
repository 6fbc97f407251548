#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/collective/in_network.hpp"
#include "sim/lowering/switches.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Switches that add up, as processes of the task graph.
namespace syncline {

/// Adds in-network all-reduces to the exchange streams of ranks. Processes of switches are added with the first one. A
/// rank begins an exchange when it has the result of the one before, as kernels on a stream follow each other.
class SwitchedExchanges {
public:
    SwitchedExchanges(TaskGraph& graph, const std::vector<ProcessId>& workers, const std::vector<StreamId>& streams)
        : graph_(graph), workers_(workers), streams_(streams) {}

    /// Adds an exchange, which begins on each rank after tasks of its own, if `after` or `and_after` are given. Returns
    /// the tasks, by rank, after which ranks have the result.
    std::vector<TaskId> add(const std::shared_ptr<const InNetwork>& algorithm, std::uint32_t bucket,
                            std::uint64_t bytes, const Protocol& protocol, const std::vector<TaskId>* after,
                            const std::vector<TaskId>* and_after);

private:
    void add_switches(const InNetwork& algorithm);

    TaskGraph& graph_;
    const std::vector<ProcessId>& workers_;
    std::vector<StreamId> streams_;  ///< by member, when the switches are added
    std::vector<TaskId> before_;     ///< by rank: its result of the exchange before
    GroupId group_ = 0;
    bool added_ = false;
};

}  // namespace syncline

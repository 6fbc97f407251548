#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/taskgraph/task_graph.hpp"

/// Names and nodes of processes and streams.
namespace syncline {

class Cast {
public:
    explicit Cast(const TaskGraph& graph);

    /// Returns true for a rank, a process that computes; others are servers. Both kinds are numbered from 0.
    bool is_rank(ProcessId process) const { return is_rank_[process]; }
    /// Returns the number of the process among its kind.
    std::uint32_t number(ProcessId process) const { return number_[process]; }
    std::uint32_t ranks() const { return ranks_; }
    std::uint32_t servers() const { return servers_; }

    /// Returns for example "rank 3" or "server 0".
    std::string process(ProcessId process) const;
    /// Returns for example "rank 3 compute", or "rank 3 push 1" if the process has several streams of the kind.
    std::string stream(StreamId stream) const;
    /// Returns the nodes with processes, in ascending order.
    const std::vector<std::uint32_t>& nodes() const { return nodes_; }
    std::uint32_t node(StreamId stream) const;

private:
    const TaskGraph& graph_;
    std::vector<bool> is_rank_;
    std::vector<std::uint32_t> number_, nodes_;
    std::uint32_t ranks_ = 0, servers_ = 0;
    struct Among {
        std::uint32_t number = 0, of = 1;
    };
    std::vector<Among> among_;  ///< by stream: its number among the streams of its process and kind
};

}  // namespace syncline

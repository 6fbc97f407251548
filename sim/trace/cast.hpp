#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/taskgraph/task_graph.hpp"

/// Who takes part: what processes and streams are called, and on which node they are.
namespace syncline {

class Cast {
public:
    explicit Cast(const TaskGraph& graph);

    /// A process that computes is a rank, any other a server; each kind counts from 0.
    bool is_rank(ProcessId process) const { return is_rank_[process]; }
    /// Its number among its kind.
    std::uint32_t number(ProcessId process) const { return number_[process]; }
    std::uint32_t ranks() const { return ranks_; }
    std::uint32_t servers() const { return servers_; }

    /// "rank 3", "server 0".
    std::string process(ProcessId process) const;
    /// "rank 3 compute"; "rank 3 push 1" of several of its kind.
    std::string stream(StreamId stream) const;
    /// The nodes that have processes, in order.
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
    std::vector<Among> among_;  ///< by stream: those of its process and kind
};

}  // namespace syncline

#pragma once

#include <optional>

#include "sim/iteration/exchange.hpp"

/// Ranks that act towards parameter servers as one: each rank by itself, or with local reduction the ranks of a node. A
/// team of k ranks adds up its gradients on its first rank and gets the result from it, concurrently: for S bytes α +
/// (k-1)·S·(β + γ), then α + (k-1)·S·β, with the β of the narrowest link into the first rank's device, or out of it;
/// 2(k-1)·S bytes stay inside the node. BytePS (Y. Jiang et al., OSDI 2020), whose first rank is the node's CPU, and
/// TensorFlow's parameter_server variables (tf_cnn_benchmarks/variable_mgr.py). Left out: trees and rings inside a
/// node, which NCCL would use.
namespace syncline {

class Teams {
public:
    /// `workers` and `cluster` must outlive it. `by_urgency`: reductions go by urgency; otherwise first in, first out.
    Teams(TaskGraph& graph, const std::vector<ProcessId>& workers, bool local_reduction, const Cluster& cluster,
          bool by_urgency);

    /// The first rank of each team.
    const std::vector<ProcessId>& leaders() const { return leaders_; }

    /// Adds up a bucket, of which each rank's gradients are ready after `ready[rank]`, or immediately. Returns, by
    /// team, the task after which its leader has the sum, if there is anything to wait for.
    std::vector<std::optional<TaskId>> reduce(std::uint32_t bucket, std::uint64_t bytes,
                                              const std::vector<TaskId>* ready, std::uint32_t urgency);

    /// Broadcasts a bucket within each team when its leader has pulled it: `pulled[team]`.
    void broadcast(std::uint32_t bucket, std::uint64_t bytes, const std::vector<std::vector<TaskId>>& pulled,
                   std::uint32_t urgency, Arrivals& results);

private:
    /// A team. Only teams of several ranks have streams.
    struct Team {
        std::vector<std::uint32_t> ranks;
        GroupId group = 0;
        std::vector<StreamId> reduce, broadcast;
    };

    /// Adds one task for each member and returns them in order.
    std::vector<TaskId> add(const Team& team, const std::vector<StreamId>& streams, const Exchange& exchange,
                            std::uint32_t bucket, std::uint32_t urgency);

    TaskGraph& graph_;
    const double gamma_s_per_B_;
    std::vector<Team> teams_;
    std::vector<ProcessId> leaders_;
};

}  // namespace syncline

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/buckets.hpp"
#include "sim/training/plan.hpp"

/// How the exchange of gradients becomes tasks, after a computation or all by itself.
namespace syncline {

/// ready[bucket][rank]: the task after which this rank's gradients may leave. Empty: all buckets may leave at once.
using Ready = std::vector<std::vector<TaskId>>;

/// last[rank]: the tasks after which this rank may go on with all results.
using Last = std::vector<std::vector<TaskId>>;

/// One bucket's exchange: what carries it out, and how its messages are carried.
struct Collective {
    std::uint64_t bytes = 0;
    std::shared_ptr<const CollectiveAlgorithm> algorithm;
    Protocol protocol = {};
};

/// One collective per bucket among `workers`, one after the other on one exchange stream per rank. A rank goes on when
/// its own part is done.
Last add_collectives(TaskGraph& graph, const std::vector<ProcessId>& workers, const std::vector<Collective>& buckets,
                     const Ready& ready, const Cluster& cluster);

/// Per bucket and shard: a push, its aggregation on the server, a pull. A rank has one connection to every server,
/// which carries one push and one pull at a time, in order; servers aggregate while the next push arrives. Pulls wait
/// until all servers have aggregated everything, as TensorFlow's synchronous variables do: pulling a tensor while
/// others are still pushed is another design (H. Zhang et al., "Poseidon", USENIX ATC 2017), and one that may lose on
/// colocated servers, whose links carry both. Adds the servers' processes: on the nodes after the workers', or on the
/// first workers' nodes.
Last add_parameter_server(TaskGraph& graph, const std::vector<ProcessId>& workers,
                          const std::vector<std::vector<Shard>>& buckets, const Ready& ready, const Servers& servers,
                          const Cluster& cluster);

/// Seconds per reduced byte at a rate in bytes per second.
inline double gamma_of(double reduction_Bps) {
    return 1 / reduction_Bps;
}

}  // namespace syncline

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

/// A task after which a bucket's result is there.
struct Arrival {
    std::uint32_t bucket = 0;
    TaskId task = 0;
};

/// After which tasks a rank has the results: those that every rank waits for, and its own. On every stream in the order
/// of the tasks.
struct Results {
    std::vector<Arrival> everyone;
    std::vector<std::vector<Arrival>> own;  ///< by rank
};

/// The same without those tasks behind which another on the same stream is taken in any case: what a rank waits for
/// that wants all results.
Results last_of(const TaskGraph& graph, const Results& results);

/// What ranks agree on before a bucket goes.
struct Coordination {
    std::vector<std::uint32_t> urgency;  ///< by bucket: the lowest goes first; empty: first in, first out
    /// By bucket: what every rank says to rank 0, and rank 0 to every rank, before it; 0: nothing. Empty: before none.
    std::vector<std::uint64_t> request_bytes;
};

/// What `plan` says for these buckets. The negotiation of a bucket in pieces is that of its first.
Coordination coordinate(const std::vector<Bucket>& buckets, const Plan& plan);

/// One bucket's exchange: what carries it out, and how its messages are carried.
struct Collective {
    std::uint64_t bytes = 0;
    std::shared_ptr<const CollectiveAlgorithm> algorithm;
    Protocol protocol = {};
};

/// One collective per bucket among `workers`, one after the other on one exchange stream per rank, negotiations too. A
/// rank goes on when its own part is done.
Results add_collectives(TaskGraph& graph, const std::vector<ProcessId>& workers, const std::vector<Collective>& buckets,
                        const Ready& ready, const Cluster& cluster, const Coordination& coordination = {});

/// The same on streams that there are already, by worker: behind what they have to do.
Results add_collectives(TaskGraph& graph, const std::vector<ProcessId>& workers, const std::vector<StreamId>& streams,
                        const std::vector<Collective>& buckets, const Ready& ready, const Cluster& cluster,
                        const Coordination& coordination = {});

/// The node of each server, whose clients are at `places`. With ServerLocation::dedicated the nodes behind the
/// clients'. `packed`: server i on that of client i, in turn, so that servers bunch on the first nodes where several
/// ranks share one. `spread`: over the n nodes that have clients, in the order of their first clients; server i of s ≤
/// n on the ⌊i·n/s⌋-th, as far from each other as that order allows (racks of a tree, too, get their share), and of s >
/// n on the (i mod n)-th, so that no node has two servers more than another, also where tensors are fewer than servers
/// and the last ones have none.
std::vector<std::uint32_t> server_nodes(const Servers& servers, const std::vector<Place>& places);

/// Per bucket and part: a push, its aggregation on the server, a pull. A rank has one connection to every server,
/// which carries one push and one pull at a time, in order or by urgency; servers aggregate while the next push
/// arrives. With PullStart::together pulls wait until all servers have aggregated everything, as TensorFlow's
/// synchronous variables do: pulling a tensor while others are still pushed may lose on colocated servers, whose links
/// carry both (H. Zhang et al., "Poseidon", USENIX ATC 2017, is for it). A rank goes on with a bucket when all ranks,
/// or the nodes' first, have pulled it. Adds the servers' processes.
///
/// Push and pull are agreed on by all ranks, here as in add_collectives, where BytePS lets each worker choose for
/// itself: that is the same where all compute alike.
Results add_parameter_server(TaskGraph& graph, const std::vector<ProcessId>& workers,
                             const std::vector<std::vector<ServerPart>>& buckets, const Ready& ready,
                             const Servers& servers, const Cluster& cluster, const Coordination& coordination = {});

/// Seconds per reduced byte at a rate in bytes per second.
inline double gamma_of(double reduction_Bps) {
    return 1 / reduction_Bps;
}

}  // namespace syncline

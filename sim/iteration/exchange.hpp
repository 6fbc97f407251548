#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/lowering/buckets.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Translates the exchange of gradients into tasks, after a computation or alone.
namespace syncline {

/// ready[bucket][rank]: the task after which this rank's gradients may leave. Empty: all buckets may leave immediately.
using Ready = std::vector<std::vector<TaskId>>;

/// A task after which a bucket's result is available.
struct Arrival {
    std::uint32_t bucket = 0;
    TaskId task = 0;
};

/// Tasks after which a rank has the results: tasks that every rank waits for, and the rank's own. On every stream they
/// are in the order of the tasks.
struct Arrivals {
    std::vector<Arrival> everyone;
    std::vector<std::vector<Arrival>> own;  ///< by rank
};

/// Drops tasks that are followed by another of the list on the same stream: what remains is what a rank waits for that
/// needs all results.
Arrivals last_of(const TaskGraph& graph, const Arrivals& results);

/// Agreement of the ranks on the order of buckets.
struct Coordination {
    std::vector<std::uint32_t> urgency;  ///< by bucket: the lowest value goes first; empty: first in, first out
    /// By bucket: bytes that every rank sends to rank 0, and rank 0 to every rank, before it; 0: none. Empty: none for
    /// any.
    std::vector<std::uint64_t> request_bytes;
    bool ahead = false;  ///< the requests do not wait for gradients: those of all buckets come before the first one
};

/// Returns the plan's coordination of these buckets, which the same ranks exchange; `first`: the number of the first.
/// A bucket in pieces is negotiated once, with its first piece.
Coordination coordinate(std::span<const Bucket> buckets, const Plan& plan, std::size_t first = 0);

/// A bucket's exchanges on one stream, one after the other.
struct Collective {
    struct Link {
        std::uint64_t bytes = 0;
        std::shared_ptr<const CollectiveAlgorithm> algorithm;
        Protocol protocol = {};
        double before_s = 0;  ///< computed after the exchange before it
    };
    Collective() = default;
    /// A single exchange.
    Collective(std::uint64_t bytes, std::shared_ptr<const CollectiveAlgorithm> algorithm, const Protocol& protocol = {})
        : links{{bytes, std::move(algorithm), protocol}} {}

    std::vector<Link> links;
    ExchangeClass kind = ExchangeClass::collective;
    std::uint32_t tag = 0;          ///< see Exchange
    std::uint32_t micro_batch = 0;  ///< whose gradients they are, if each one's are exchanged
    Phase phase = Phase::exchange;  ///< of its tasks; not of an all-reduce by switches
};

/// Adds one collective for each bucket among `workers`, one after the other on one exchange stream per rank,
/// negotiations included. A rank continues when its own part is done.
Arrivals add_collectives(TaskGraph& graph, const std::vector<ProcessId>& workers,
                         const std::vector<Collective>& buckets, const Ready& ready, const Cluster& cluster,
                         const Coordination& coordination = {});

/// Adds the same to existing streams, by worker, after their present tasks; nothing for workers with no_stream.
/// `first`: the number of the first of these buckets, in tasks and in what is returned.
Arrivals add_collectives(TaskGraph& graph, const std::vector<ProcessId>& workers, const std::vector<StreamId>& streams,
                         const std::vector<Collective>& buckets, const Ready& ready, const Cluster& cluster,
                         const Coordination& coordination = {}, std::uint32_t first = 0);

/// Returns the node of each server, for clients at `places`. With ServerLocation::dedicated these are the nodes after
/// the clients'. `packed`: server i on the node of client i, cyclically, so that servers share the first nodes if
/// several ranks share a node. `spread`: over the n nodes that have clients, in the order of their first clients.
/// Server i of s ≤ n is on the ⌊i·n/s⌋-th node, so that servers are as far from each other as that order allows (racks
/// of a tree get their share, too); server i of s > n is on the (i mod n)-th, so that the numbers of servers per node
/// differ by at most one, even if there are fewer tensors than servers and the last servers have none.
std::vector<std::uint32_t> server_nodes(const Servers& servers, const std::vector<Place>& places);

/// Adds, per bucket and part, a push, its aggregation on the server, and a pull, and adds the servers' processes. A
/// rank has one connection to every server, which carries one push and one pull at a time, in order or by urgency;
/// servers aggregate while the next push arrives. With PullStart::together pulls wait until all servers have aggregated
/// everything, like TensorFlow's synchronous variables: pulling a tensor while others are still pushed may be slower on
/// colocated servers, whose links carry both (H. Zhang et al., "Poseidon", USENIX ATC 2017, recommends it). A rank
/// continues with a bucket when all ranks, or the first rank of each node, have pulled it.
///
/// All ranks agree on the order of pushes and pulls, as in add_collectives; BytePS lets each worker choose for itself,
/// which is the same if all compute at the same speed.
Arrivals add_parameter_server(TaskGraph& graph, const std::vector<ProcessId>& workers,
                              const std::vector<std::vector<ServerPart>>& buckets, const Ready& ready,
                              const Servers& servers, const Cluster& cluster, const Coordination& coordination = {});

/// Adds pushes and pulls of each worker by itself, with Updates that are not synchronous, and with backup workers. Per
/// bucket and part, a worker pushes its gradients to the server, which applies them as an update of their own, one
/// after the other in the order of arrival (S·γ each), and pulls the weights: when all that it has pushed is applied
/// (PullStart::together), or each part by itself. It continues when it has pulled them; nothing else holds it up but
/// - with Updates::stale_synchronous and staleness s, that it pulls the weights of iteration c + 1 only when all
/// workers
///   have pushed the gradients of iteration c - s (of the part, with PullStart::each). With s = 0 no worker computes
///   before all others have pushed, as in synchronous training; with s beyond the number of iterations nobody waits.
/// - with b backup workers, that all pull when the gradients of the first N - b of N workers have been applied. The
///   others stop computing at this instant, and begin the next iteration with the rest (K-sync SGD: S. Dutta et al.,
///   "Slow and stale gradients can win the race", AISTATS 2018). With computation times alone an iteration takes the
///   (N - b)-th smallest of N. Gradients that are on their way arrive, and are dropped.
///
/// Left out: workers that share a node's connection (Servers::local_reduction), orders by urgency.
Arrivals add_updates_by_worker(TaskGraph& graph, const std::vector<ProcessId>& workers,
                               const std::vector<std::vector<ServerPart>>& buckets, const Ready& ready,
                               const Servers& servers, const Cluster& cluster);

/// Returns the seconds per reduced byte for a rate in bytes per second.
inline double gamma_of(double reduction_Bps) {
    return 1 / reduction_Bps;
}

}  // namespace syncline

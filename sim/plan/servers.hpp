#pragma once

#include <cstdint>

/// Parameter servers: their number, places, and what they hold.
namespace syncline {

/// Assignment of tensors to servers. `round_robin`: tensor i on server i mod s; `greedy_bytes`: each tensor on the
/// server with the fewest bytes so far; `sliced`: every tensor cut into s equal slices, one per server.
enum class ServerAssignment { round_robin, greedy_bytes, sliced };

/// Location of servers. `dedicated`: on nodes of their own, after the workers' nodes; the others are colocated, on
/// nodes that have ranks: see server_nodes().
enum class ServerLocation { dedicated, spread, packed };

/// Time at which a server sends a sum back. `together`: when all servers have all of their sums. `each`: as soon as it
/// is complete, like TensorFlow's distributed_replicated variables and BytePS (Y. Jiang et al., OSDI 2020).
enum class PullStart { together, each };

/// Updates of the weights. `synchronous`: one of all workers' gradients. Else each worker's gradients are an update of
/// their own, applied in the order of arrival. `asynchronous`: the worker pulls the weights and continues (J. Dean et
/// al., "Large scale distributed deep networks", NIPS 2012, Downpour SGD). `stale_synchronous`: a worker begins
/// iteration c when all have pushed those of c - s - 1 (Q. Ho et al., "More effective distributed ML via a stale
/// synchronous parallel parameter server", NIPS 2013), s being its staleness.
enum class Updates { synchronous, asynchronous, stale_synchronous };

struct Servers {
    std::int64_t count = 1;
    ServerAssignment assignment = ServerAssignment::round_robin;
    ServerLocation location = ServerLocation::dedicated;
    PullStart pull = PullStart::together;
    /// Ranks on one node add up their gradients on the first of them, which alone pushes and pulls, and broadcasts the
    /// result (TensorFlow's parameter_server variables, BytePS).
    bool local_reduction = false;

    Updates updates = Updates::synchronous;
    std::int64_t staleness = 0;  ///< of stale_synchronous, in iterations
    /// Workers whose gradients an update does without, of synchronous: it takes those that arrive first (J. Chen et
    /// al., "Revisiting distributed synchronous SGD", arXiv:1604.00981, 2016).
    std::int64_t backup_workers = 0;

    /// Returns whether each worker's gradients are an update of their own.
    bool independent() const { return updates != Updates::synchronous; }
    bool colocated() const { return location != ServerLocation::dedicated; }
};

}  // namespace syncline

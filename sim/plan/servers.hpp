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

struct Servers {
    std::int64_t count = 1;
    ServerAssignment assignment = ServerAssignment::round_robin;
    ServerLocation location = ServerLocation::dedicated;
    PullStart pull = PullStart::together;
    /// Ranks on one node add up their gradients on the first of them, which alone pushes and pulls, and broadcasts the
    /// result (TensorFlow's parameter_server variables, BytePS).
    bool local_reduction = false;

    bool colocated() const { return location != ServerLocation::dedicated; }
};

}  // namespace syncline

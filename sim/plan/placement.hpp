#pragma once

#include <cstdint>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Placement of ranks on devices, numbered node by node: device d of node n is n·devices + d. `packed`: rank r on
/// device r. `round_robin`: on the first device of every node, then on the second, and so on. `random`: a permutation
/// of the first devices, drawn with a seed. `listed`: given by the user.
namespace syncline {

struct RankPlacement {
    enum class Order { packed, round_robin, random, listed };

    Order order = Order::packed;
    std::vector<std::int64_t> devices;  ///< listed: by rank, all different
    std::uint64_t seed = 1;
};

/// Returns the number of nodes with as many devices as there are ranks, and with all devices that are listed.
std::int64_t nodes_needed(const Cluster& cluster, const RankPlacement& placement, std::int64_t ranks);

/// Gives a cluster of as many nodes as needed, which has 0 nodes, the number that the ranks need, and after these
/// `server_nodes` for servers with nodes of their own.
void give_nodes(Cluster& cluster, const RankPlacement& placement, std::int64_t ranks, std::int64_t server_nodes);

/// Returns the places by rank. The cluster must have at least as many devices, and `devices` as many entries, as ranks.
std::vector<Place> place_ranks(const Cluster& cluster, const RankPlacement& placement, std::uint32_t ranks);

/// Returns the first node after all nodes with ranks: dedicated servers begin there.
std::uint32_t first_free_node(const std::vector<Place>& places);

}  // namespace syncline

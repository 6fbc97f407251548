#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/collective/in_network.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Switches that add up.
namespace syncline {

/// Why no switches can add up, and what to do about it.
struct ReductionObstacle {
    std::string message, hint;
};

/// Returns why no switches of the cluster can add up the data of these ranks; nothing if some can.
std::optional<ReductionObstacle> reduction_obstacle(const Cluster& cluster, const std::vector<Place>& places);

/// Returns the tree of switches of the fabric for ranks at these places: those on the shortest paths from the ranks'
/// ports to a root, which is the switch whose longest path is shortest, and of these the one with the fewest cables,
/// and of these the first. Throws AlgorithmError if there is an obstacle.
SwitchTree switch_tree(const Cluster& cluster, const std::vector<Place>& places);

/// Returns the in-network all-reduce of ranks at these places: by the switches inside nodes (nvls.hpp), or, if ranks
/// are on several nodes and the fabric's switches add up, by those (in_network.hpp). Returns null if there is none, or,
/// if `by_ranks_alone`, only one of which switches are members.
std::shared_ptr<const CollectiveAlgorithm> in_network(const Cluster& cluster, const std::vector<Place>& places,
                                                      double segment_bytes, bool by_ranks_alone);

/// Returns the place of a switch of the tree; `node`: any of the ranks' nodes.
Place place_of_switch(const SwitchTree& tree, std::uint32_t number, std::uint32_t node);

}  // namespace syncline

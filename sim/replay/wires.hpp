#pragma once

#include <vector>

#include <simgrid/s4u/Host.hpp>

#include "sim/platform/cluster.hpp"

/// A Cluster as SimGrid's hosts and links.
namespace syncline {

/// Chooses the network model; before the engine's first zone. `sends_at_once`: whether a node may have several messages
/// out at once.
void configure_network(const Cluster& cluster, bool sends_at_once);

/// Makes the zone with hosts for nodes 0 … nodes-1 and returns them in that order. Only those nodes are built.
std::vector<simgrid::s4u::Host*> wire(const Cluster& cluster, std::uint32_t nodes);

}  // namespace syncline

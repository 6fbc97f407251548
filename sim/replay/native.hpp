#pragma once

#include <vector>

#include <simgrid/s4u/Host.hpp>

#include "sim/platform/cluster.hpp"

/// Platforms in SimGrid's own format.
namespace syncline {

/// Fills in the number of nodes of `cluster.native` and, if it has no device, the speed of its slowest host. The file
/// is loaded in a separate process. Throws ReplayError with the problem found, including missing routes between nodes
/// and WIFI links on routes; with more than 256 nodes, only routes from and to the first are checked.
void inspect(Cluster& cluster);

/// Loads the platform into this process's engine and returns the hosts that are nodes, in order. Throws ReplayError if
/// one is missing.
std::vector<simgrid::s4u::Host*> load_native(const NativePlatform& platform);

}  // namespace syncline

#pragma once

#include <vector>

#include <simgrid/s4u/Host.hpp>

#include "sim/platform/cluster.hpp"

/// Platforms in SimGrid's own format.
namespace syncline {

/// Fills in how many nodes `cluster.native` has and, if it has no device, what its slowest host computes. The file is
/// loaded in a process of its own. Throws ReplayError that says what is wrong with it, missing routes between nodes and
/// WIFI links on them included; of more than 256 nodes, only routes from and to the first are looked at.
void inspect(Cluster& cluster);

/// Loads the platform into this process's engine; the hosts that are nodes, in order. Throws ReplayError where one is
/// missing.
std::vector<simgrid::s4u::Host*> load_native(const NativePlatform& platform);

}  // namespace syncline

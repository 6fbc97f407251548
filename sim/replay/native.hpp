#pragma once

#include "sim/platform/cluster.hpp"

/// Platforms in SimGrid's own format, before they are simulated.
namespace syncline {

/// Fills in the number of nodes of `cluster.native` and, if it has no device, the speed of its slowest host. The file
/// is loaded in a separate process. Throws ReplayError with the problem found, including missing routes between nodes
/// and WIFI links on routes; with more than 256 nodes, only routes from and to the first are checked.
void inspect(Cluster& cluster);

}  // namespace syncline

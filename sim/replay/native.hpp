#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>

#include "sim/platform/cluster.hpp"

/// Platforms in SimGrid's own format.
namespace syncline {

/// Fills in the number of nodes of `cluster.native` and, if it has no device, the speed of its slowest host. The file
/// is loaded in a separate process. Throws ReplayError with the problem found, including missing routes between nodes
/// and WIFI links on routes; with more than 256 nodes, only routes from and to the first are checked.
void inspect(Cluster& cluster);

/// A native platform that is loaded into this process's engine.
struct NativeLinks {
    std::vector<simgrid::s4u::Host*> hosts;  ///< those that are nodes, in order
    std::vector<simgrid::s4u::Link*> links;
    std::unordered_map<const simgrid::s4u::Link*, std::uint32_t> number;  ///< the same, by link

    /// Returns the numbers of the links from one node to another.
    std::vector<std::uint32_t> route(std::uint32_t from, std::uint32_t to) const;
};

/// Throws ReplayError if the platform cannot be loaded, or if one of its hosts is missing.
NativeLinks load_native(const NativePlatform& platform);

}  // namespace syncline

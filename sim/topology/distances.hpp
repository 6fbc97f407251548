#pragma once

#include <cstdint>

#include "sim/topology/network.hpp"

namespace syncline {

struct Distances {
    std::uint32_t diameter = 0;  ///< hops of the longest shortest path between two hosts
    double average = 0;          ///< hops, over all ordered pairs of different hosts; 0 with one host
    /// False if the graph is too large to search from every host. Then the diameter is a lower bound, and the average
    /// that of some hosts, evenly spread over their numbers, to all others.
    bool exact = true;
};

/// Counts the hosts on both sides of every link of a tree. In other graphs, runs breadth-first searches along the
/// links' directions, from every host, or from host 0 only if all hosts are alike; from as many as a quarter of a
/// billion steps allow. Throws std::logic_error where a host cannot reach another.
Distances measure_distances(const Network& network, bool hosts_alike);

}  // namespace syncline

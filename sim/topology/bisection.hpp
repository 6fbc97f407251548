#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/topology/network.hpp"

namespace syncline {

struct Bisection {
    double weight = 0;  ///< in cables or B/s, like the network's links
    bool exact = false;
    std::string basis;  ///< origin of the figure, in a few words
};

/// Returns the minimum cut between two halves of the hosts, ⌊n/2⌋ and ⌈n/2⌉ of them. The first method that applies is
/// used:
///
/// - the formula of the shape, if it has one that applies;
/// - any tree: dynamic programming over the number of hosts on the root's side;
/// - up to 16 hosts: enumeration of all halves;
/// - otherwise: the best of several cuts, an upper bound.
Bisection bisect(const TopologySpec& spec, const Topology& topology, const Network& network);

/// Returns the common weight of all links, if every link connects two hosts and all weigh the same.
std::optional<double> common_weight(const Network& network);

}  // namespace syncline

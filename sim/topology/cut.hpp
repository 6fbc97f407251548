#pragma once

#include <vector>

#include "sim/topology/network.hpp"

namespace syncline {

/// For each vertex, true if it belongs to the first half.
using Sides = std::vector<bool>;

/// Returns the minimum weight of links from one half of the hosts to the other, in the direction in which it is
/// smaller. `sides` gives the hosts' sides; switches are assigned so that the cut is minimal (maximum flow, Y. Boykov
/// and V. Kolmogorov, PAMI 26, 2004).
double least_cut(const Network& network, Sides& sides);

/// Returns the minimum cut over all halves of the hosts by enumeration: for up to about 16 hosts.
double least_of_all_halves(const Network& network);

/// Returns the minimum cut among several halves: in the order of the hosts' numbers, by parity, and spectral. Each is
/// improved by moving one vertex at a time (C. Fiduccia and R. Mattheyses, DAC 1982) unless there are more than 10,000
/// vertices.
double least_of_some_halves(const Network& network);

}  // namespace syncline

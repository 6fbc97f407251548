#pragma once

#include <vector>

#include "sim/topology/network.hpp"

namespace syncline {

/// For each vertex whether it belongs to the first half.
using Sides = std::vector<bool>;

/// The least weight of links from one half of the hosts to the other, in the direction where that is less. `sides` says
/// where the hosts are; switches are put where the cut is least (maximum flow, Y. Boykov and V. Kolmogorov, PAMI 26,
/// 2004).
double least_cut(const Network& network, Sides& sides);

/// The least cut over all halves of the hosts, by trying them all: for up to some 16 hosts.
double least_of_all_halves(const Network& network);

/// The least cut of the halves tried: in the order of the hosts' numbers, by parity and spectral, each one improved by
/// moving one vertex at a time (C. Fiduccia and R. Mattheyses, DAC 1982) unless there are more than 10,000.
double least_of_some_halves(const Network& network);

}  // namespace syncline

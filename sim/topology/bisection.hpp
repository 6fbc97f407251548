#pragma once

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
/// - ring, torus, hypercube of equal links: J. Arjona Aroca and A. Fernández Anta, "Bisection (Band)Width of Product
///   Networks", TAMC 2012 (arXiv:1202.6291). If the longest dimension k is even, the cut is 2n/k; if all dimensions are
///   odd, at least 3 and in falling order k₁ ≥ … ≥ k_d, it is 2·Σ_i Π_{j>i} k_j up to the first even one. A dimension
///   of 2, which has one cable per pair rather than two, counts as 4: the routes of all pairs load its cables like
///   those of a ring of 4.
/// - full mesh: ⌊n/2⌋·⌈n/2⌉;
/// - fat tree, rails: min N_l / 2 over l, where N_l is the weight of all cables from level l-1 to l. The cut is no
///   larger, because half of the level's subtrees can be separated from the rest. It is no smaller, because flows that
///   spread evenly over all upward paths load each cable of level l with at most n/N_l when each host of one half sends
///   1 to its own host of the other half;
/// - any tree: dynamic programming over the number of hosts on the root's side;
/// - up to 16 hosts: enumeration of all halves;
/// - otherwise: the best of several cuts, an upper bound.
Bisection bisect(const TopologySpec& spec, const Topology& topology, const Network& network);

/// Returns the exact bisection of a tree of full-duplex links, in time quadratic in the number of hosts.
double bisect_tree(const Network& network);
bool is_tree(const Network& network);

}  // namespace syncline

#pragma once

#include <string>
#include <vector>

#include "sim/topology/network.hpp"

namespace syncline {

struct Bisection {
    double weight = 0;  ///< cables or B/s, as the network's links
    bool exact = false;
    std::string basis;  ///< where the figure comes from, in a few words
};

/// The least cut between two halves of the hosts, ⌊n/2⌋ and ⌈n/2⌉ of them. By what comes first of
///
/// - ring, torus, hypercube of equal links: J. Arjona Aroca and A. Fernández Anta, "Bisection (Band)Width of Product
///   Networks", TAMC 2012 (arXiv:1202.6291). With the longest dimension k even 2n/k, with all of them odd, at least 3
///   and in falling order k₁ ≥ … ≥ k_d, 2·Σ_i Π_{j>i} k_j up to the first even one. A dimension of 2, which has one
///   cable per pair rather than two, counts as 4: all pairs' routes load its cables as those of a ring of 4.
/// - full mesh: ⌊n/2⌋·⌈n/2⌉;
/// - fat tree, rails: with N_l the weight of all cables from level l-1 to l, min N_l / 2 over l. No more, as half of
/// the
///   level's subtrees can be parted from the rest; no less, as flows that spread evenly over all ways up load each
///   cable of level l with n/N_l at most when each host of one half sends 1 to its own host of the other one;
/// - any tree: dynamic programming over the number of hosts on the root's side;
/// - up to 16 hosts: all halves;
/// - else the best of some, an upper bound.
Bisection bisect(const TopologySpec& spec, const Topology& topology, const Network& network);

/// The exact bisection of a tree of full-duplex links, in time of the hosts' square.
double bisect_tree(const Network& network);
bool is_tree(const Network& network);

}  // namespace syncline

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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

/// Returns the minimum number of cables (in a directed overlay: of one-way connections) whose removal keeps some host
/// from reaching another; 0 with one host. Switches that are cut off without a host do not count.
///
/// In a vertex-transitive graph (`hosts_alike`) it is the hosts' degree (W. Mader, "Minimale n-fach
/// kantenzusammenhängende Graphen", Math. Ann. 191, 1971; directed: Y. O. Hamidoune, "Quelques problèmes de connexité
/// dans les graphes orientés", JCTB 30, 1981), in a simple graph of diameter 2 the minimum degree (J. Plesník,
/// "Critical graphs of given diameter", Acta Fac. Rerum Natur. Univ. Comenian. Math. 30, 1975), and 2 if some host has
/// two cables and none is a bridge (R. Tarjan, "A note on finding the bridges of a graph", Inf. Process. Lett. 2,
/// 1974). Else it is found by maximum flows between hosts (K. Menger 1927); nothing if that takes more than a hundred
/// million steps.
std::optional<std::uint32_t> edge_connectivity(const Topology& topology, const Network& network, bool hosts_alike,
                                               std::uint32_t diameter);

/// Returns 1 - |λ2| of the mixing matrix W of gossip, to 1e-9: W_ij = 1/(1 + max(d_i, d_j)) between neighbours
/// (Metropolis and Hastings; L. Xiao, S. Boyd, S.-J. Kim, JPDC 67, 2007); the diagonal completes each row to 1. If some
/// link is one-way, 1/(1 + d_i) with the out-degree. 1 for a single host.
///
/// Cayley graphs of `factors` (see cyclic_factors) have λ_c = (1 + Σ_s exp(2πi Σ_j c_j s_j/k_j))/(d + 1), summed over
/// the neighbours s of host 0: L. Babai, "Spectra of Cayley graphs", JCTB 27, 1979. If |λ2| belongs to the least
/// eigenvalue in a graph of more than 512 hosts, its error may be 1e-3. Nothing if there are switches, for other graphs
/// with one-way links and more than 512 hosts or with more than 20,000 hosts, and if no solver converges.
std::optional<double> spectral_gap(const Network& network, const std::vector<std::uint32_t>& factors);

/// Returns the hosts in the order of an approximate eigenvector to λ2 of the same matrix over hosts and switches. Its
/// two halves are a good cut: M. Fiedler 1973, A. Pothen et al., SIAM J. Matrix Anal. Appl. 11, 1990. In the order of
/// their numbers if there are more than 20,000 vertices.
std::vector<std::uint32_t> spectral_order(const Network& network);

}  // namespace syncline

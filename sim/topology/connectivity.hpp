#pragma once

#include <cstdint>
#include <optional>

#include "sim/topology/network.hpp"

namespace syncline {

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

}  // namespace syncline

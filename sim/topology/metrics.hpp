#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/topology/shape.hpp"

/// Metrics of a topology, for comparisons.
namespace syncline {

/// The switches of one level together, with their cables to vertices of lower and higher levels; cables between
/// switches of the level do not count. Bandwidths are for one direction.
struct LevelMetrics {
    std::uint32_t level = 1;  ///< 1 next to the hosts
    std::uint32_t switches = 0;
    std::uint64_t cables_down = 0, cables_up = 0;
    double down_Bps = 0, up_Bps = 0;
    /// Bandwidth from below divided by the bandwidth upwards, or the numbers of cables if they have no bandwidth;
    /// nothing at the top.
    std::optional<double> oversubscription() const {
        if (cables_down == 0 || cables_up == 0) return std::nullopt;
        if (down_Bps > 0 && up_Bps > 0) return down_Bps / up_Bps;
        return static_cast<double>(cables_down) / static_cast<double>(cables_up);
    }
};

struct Metrics {
    std::uint32_t hosts = 0, switches = 0;
    std::uint64_t cables = 0;
    std::uint64_t ports = 0;         ///< cable ends at hosts and switches: the cost of a fabric apart from its cables
    std::uint32_t switch_ports = 0;  ///< of the switch with the most ports; 0 without switches
    /// Cables at a host; in a directed overlay, outgoing connections.
    std::uint32_t least_degree = 0, most_degree = 0;
    std::uint32_t diameter = 0;   ///< hops of the longest shortest path between two hosts
    double average_distance = 0;  ///< hops, over all ordered pairs of different hosts
    bool distances_exact = true;  ///< false: a lower bound and an average of some hosts, see Distances
    /// Minimum bandwidth in one direction between two halves of the hosts (⌊n/2⌋ and ⌈n/2⌉), and the same in cables.
    /// Exact if the shape has a formula or if few hosts allow the enumeration of all halves; otherwise an upper bound
    /// from the best cut found.
    double bisection_cables = 0;
    std::optional<double> bisection_Bps;  ///< nothing if cables have no bandwidth
    bool bisection_exact = false;
    std::string bisection_basis;  ///< origin of the figure, in a few words
    /// Number of cables that must fail before some host is cut off; nothing if the graph is too large to find it.
    std::optional<std::uint32_t> edge_connectivity;
    /// 1 - |λ2| of the mixing matrix of gossip over this graph (measures.hpp): the error shrinks by |λ2| per iteration.
    std::optional<double> spectral_gap;
    std::vector<LevelMetrics> levels;  ///< from the hosts up; empty without switches
};

/// `spec` gives the shape, for the formulas. Throws std::logic_error if the topology has no hosts or some host cannot
/// reach another.
Metrics measure_topology(const TopologySpec& spec, const Topology& topology);

}  // namespace syncline

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/topology/shape.hpp"

/// What a topology is worth, in the numbers that people compare.
namespace syncline {

/// The switches of one level, together, and their cables to vertices of lower and of higher levels; cables among
/// themselves do not count. Bandwidths are one direction's.
struct LevelMetrics {
    std::uint32_t level = 1;  ///< 1 next to the hosts
    std::uint32_t switches = 0;
    std::uint64_t cables_down = 0, cables_up = 0;
    double down_Bps = 0, up_Bps = 0;
    /// Bandwidth from below over bandwidth upwards; nothing at the top, and where cables have no bandwidth.
    std::optional<double> oversubscription() const {
        return down_Bps > 0 && up_Bps > 0 ? std::optional(down_Bps / up_Bps) : std::nullopt;
    }
};

struct Metrics {
    std::uint32_t hosts = 0, switches = 0;
    std::uint64_t cables = 0;
    std::uint64_t ports = 0;         ///< cable ends, of hosts and switches: what a fabric costs beside its cables
    std::uint32_t switch_ports = 0;  ///< of the switch that has the most; 0 without switches
    /// Cables at a host; of a directed overlay, connections out.
    std::uint32_t least_degree = 0, most_degree = 0;
    std::uint32_t diameter = 0;   ///< hops of the longest shortest path between two hosts
    double average_distance = 0;  ///< hops, over all ordered pairs of different hosts
    /// The least bandwidth, one direction, between two halves of the hosts (⌊n/2⌋ and ⌈n/2⌉), and in cables. Exact
    /// where the shape has a formula or few hosts allow to try all halves; else an upper bound, from the best cut
    /// found.
    double bisection_cables = 0;
    std::optional<double> bisection_Bps;  ///< nothing where cables have no bandwidth
    bool bisection_exact = false;
    std::string bisection_basis;          ///< where the figure comes from, in a few words
    std::uint32_t edge_connectivity = 0;  ///< cables that have to fail before some host is cut off
    /// 1 - |λ2| of the mixing matrix of gossip over this graph, with the weight 1/(degree+1) for each neighbour and
    /// oneself (symmetric graphs that are not regular: Metropolis-Hastings weights): the error shrinks by |λ2| an
    /// iteration. Nothing with switches, which average nothing, and for more than 512 ranks with one-way connections
    /// that are no exponential graph.
    std::optional<double> spectral_gap;
    std::vector<LevelMetrics> levels;  ///< from the hosts up; none without switches
};

/// `spec` tells the shape, for the formulas. Throws std::logic_error on a topology without hosts, or where one of them
/// cannot reach another.
Metrics measure_topology(const TopologySpec& spec, const Topology& topology);

}  // namespace syncline

#include "sim/topology/metrics.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/topology/bisection.hpp"
#include "sim/topology/layout.hpp"
#include "sim/topology/measures.hpp"
#include "sim/topology/network.hpp"

namespace syncline {

namespace {

void count(const Topology& topology, Metrics& metrics) {
    metrics.hosts = topology.hosts;
    metrics.switches = topology.vertices() - topology.hosts;
    metrics.cables = topology.cables;
    metrics.ports = 2 * std::uint64_t{topology.cables};

    std::vector<std::uint32_t> ends(topology.vertices(), 0);
    for (const auto& [from, to] : cable_ends(topology)) {
        ++ends[from];
        ++ends[to];
    }
    for (std::uint32_t vertex = topology.hosts; vertex < topology.vertices(); ++vertex)
        metrics.switch_ports = std::max(metrics.switch_ports, ends[vertex]);

    metrics.least_degree = ~std::uint32_t{0};
    for (std::uint32_t host = 0; host < topology.hosts; ++host) {
        const auto degree = static_cast<std::uint32_t>(boost::out_degree(host, topology.graph));
        metrics.least_degree = std::min(metrics.least_degree, degree);
        metrics.most_degree = std::max(metrics.most_degree, degree);
    }
}

std::vector<LevelMetrics> levels_of(const Topology& topology) {
    std::vector<LevelMetrics> levels;
    const auto at = [&](std::uint32_t level) -> LevelMetrics& {
        for (; levels.size() < level; levels.back().level = static_cast<std::uint32_t>(levels.size()))
            levels.emplace_back();
        return levels[level - 1];
    };
    const Graph& graph = topology.graph;
    for (std::uint32_t vertex = topology.hosts; vertex < topology.vertices(); ++vertex) {
        if (graph[vertex].level > 0) ++at(graph[vertex].level).switches;
    }
    // A full-duplex cable is two edges, one of which goes up.
    for (auto [edge, end] = boost::edges(graph); edge != end; ++edge) {
        const std::uint32_t from = graph[boost::source(*edge, graph)].level;
        const std::uint32_t to = graph[boost::target(*edge, graph)].level;
        if (from >= to) continue;
        const double bandwidth_Bps = graph[*edge].wire.bandwidth_Bps;
        ++at(to).cables_down;
        at(to).down_Bps += bandwidth_Bps;
        if (from == 0) continue;
        ++at(from).cables_up;
        at(from).up_Bps += bandwidth_Bps;
    }
    return levels;
}

void bisect(const TopologySpec& spec, const Topology& topology, const Network& cables, Metrics& metrics) {
    const Bisection of_cables = bisect(spec, topology, cables);
    metrics.bisection_cables = of_cables.weight;
    metrics.bisection_exact = of_cables.exact;
    metrics.bisection_basis = of_cables.basis;

    auto [edge, end] = boost::edges(topology.graph);
    if (edge == end) return;
    const auto bandwidth_Bps = [&](const auto& one) { return topology.graph[one].wire.bandwidth_Bps; };
    if (std::any_of(edge, end, [&](const auto& one) { return bandwidth_Bps(one) == 0; })) return;
    const double first_Bps = bandwidth_Bps(*edge);
    if (std::all_of(edge, end, [&](const auto& one) { return bandwidth_Bps(one) == first_Bps; })) {
        metrics.bisection_Bps = of_cables.weight * first_Bps;
        return;
    }
    // The cables of the minimum cut need not be those with the minimum bandwidth.
    const Bisection of_bandwidth = bisect(spec, topology, Network(topology, Weight::bandwidth));
    metrics.bisection_Bps = of_bandwidth.weight;
    metrics.bisection_exact = metrics.bisection_exact && of_bandwidth.exact;
    if (of_bandwidth.basis != of_cables.basis) metrics.bisection_basis += "; bandwidth: " + of_bandwidth.basis;
}

/// Returns the metrics of rails that are networks of their own: distances and connectivity in one of them.
Metrics measure_rails(TopologySpec spec, const Topology& topology) {
    spec.rails = 1;
    spec.hosts = topology.hosts / topology.parts;
    Metrics metrics = measure_topology(spec, make_topology(spec, Use::fabric));
    count(topology, metrics);
    metrics.bisection_cables *= topology.parts;
    if (metrics.bisection_Bps) *metrics.bisection_Bps *= topology.parts;
    metrics.bisection_basis += ", in each rail";
    metrics.levels = levels_of(topology);
    return metrics;
}

}  // namespace

Metrics measure_topology(const TopologySpec& spec, const Topology& topology) {
    if (topology.hosts == 0) throw std::logic_error("cannot measure a topology without hosts");
    if (topology.parts > 1) return measure_rails(spec, topology);
    Metrics metrics;
    count(topology, metrics);

    const Network network(topology, Weight::cables);
    const auto factors = cyclic_factors(spec, topology);
    const Distances distances = measure_distances(network, !factors.empty());
    metrics.diameter = distances.diameter;
    metrics.average_distance = distances.average;
    metrics.distances_exact = distances.exact;
    bisect(spec, topology, network, metrics);
    metrics.edge_connectivity = edge_connectivity(topology, network, !factors.empty(), distances.diameter);
    metrics.spectral_gap = spectral_gap(network, factors);
    if (metrics.switches > 0) metrics.levels = levels_of(topology);
    return metrics;
}

}  // namespace syncline

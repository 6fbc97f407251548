#include "sim/topology/network.hpp"

#include <algorithm>
#include <bit>

namespace syncline {

Network::Network(const Topology& topology, Weight weight)
    : hosts_(topology.hosts), one_way_(topology.directed()), first_{0} {
    const Graph& graph = topology.graph;
    const auto weight_of = [&](const Graph::edge_descriptor& edge) {
        return weight == Weight::cables ? 1.0 : graph[edge].wire.bandwidth_Bps;
    };
    std::vector<Link> around;
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
        around.clear();
        for (auto [edge, end] = boost::out_edges(vertex, graph); edge != end; ++edge)
            around.push_back({static_cast<std::uint32_t>(boost::target(*edge, graph)), weight_of(*edge), 0});
        for (auto [edge, end] = boost::in_edges(vertex, graph); edge != end; ++edge)
            around.push_back({static_cast<std::uint32_t>(boost::source(*edge, graph)), 0, weight_of(*edge)});
        std::stable_sort(around.begin(), around.end(), [](const Link& a, const Link& b) { return a.to < b.to; });
        for (const Link& link : around) {
            if (links_.size() > first_.back() && links_.back().to == link.to) {
                links_.back().out += link.out;
                links_.back().in += link.in;
            } else {
                links_.push_back(link);
            }
        }
        first_.push_back(links_.size());
    }
}

std::vector<std::uint32_t> cyclic_factors(const TopologySpec& spec, const Topology& topology) {
    std::vector<std::uint32_t> factors;
    switch (spec.shape) {
        case Shape::ring:
        case Shape::exponential:
        case Shape::full_mesh:
            return {topology.hosts};
        case Shape::hypercube:
            return std::vector<std::uint32_t>(static_cast<std::size_t>(std::countr_zero(topology.hosts)), 2);
        case Shape::torus:
            for (const std::int64_t size : torus_dimensions(spec, topology.hosts))
                factors.push_back(static_cast<std::uint32_t>(size));
            return factors;
        default:
            return {};
    }
}

}  // namespace syncline

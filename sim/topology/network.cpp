#include "sim/topology/network.hpp"

#include <algorithm>

#include "sim/topology/families.hpp"

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

bool is_tree(const Network& network) {
    std::size_t ends = 0;
    for (std::uint32_t vertex = 0; vertex < network.vertices(); ++vertex) ends += network.links(vertex).size();
    return ends == 2 * (std::size_t{network.vertices()} - 1) && !network.one_way();
}

RootedTree::RootedTree(const Network& network) : parents(network.vertices(), network.vertices()), order{0} {
    parents[0] = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const Link& link : network.links(order[i])) {
            if (parents[link.to] < network.vertices()) continue;
            parents[link.to] = order[i];
            order.push_back(link.to);
        }
    }
}

std::vector<std::uint32_t> cyclic_factors(const TopologySpec& spec, const Topology& topology) {
    const auto factors = shapes::family_of(spec.shape).factors;
    return factors == nullptr ? std::vector<std::uint32_t>{} : factors(spec, topology);
}

}  // namespace syncline

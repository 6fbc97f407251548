#include "sim/topology/topology.hpp"

#include <fmt/format.h>

#include <vector>

namespace syncline {

std::uint32_t Topology::add_host(std::string vertex_name) {
    if (vertices() != hosts) throw std::logic_error("hosts must be added before switches");
    ++hosts;
    return static_cast<std::uint32_t>(boost::add_vertex({std::move(vertex_name), VertexKind::host, 0}, graph));
}

std::uint32_t Topology::add_switch(std::string vertex_name, std::uint32_t level) {
    return static_cast<std::uint32_t>(boost::add_vertex({std::move(vertex_name), VertexKind::crossbar, level}, graph));
}

void Topology::add_cable(std::uint32_t a, std::uint32_t b, const Wire& wire) {
    boost::add_edge(a, b, {wire, cables}, graph);
    boost::add_edge(b, a, {wire, cables}, graph);
    ++cables;
}

void Topology::add_one_way(std::uint32_t from, std::uint32_t to, const Wire& wire) {
    boost::add_edge(from, to, {wire, cables}, graph);
    ++cables;
}

bool Topology::directed() const {
    return boost::num_edges(graph) != 2 * std::size_t{cables};
}

namespace {

/// Returns for each vertex whether it is reached from `start`, along edges or against them.
std::vector<bool> reached(const Graph& graph, std::uint32_t start, bool forward) {
    std::vector<bool> seen(boost::num_vertices(graph), false);
    std::vector<std::uint32_t> open{start};
    seen[start] = true;
    const auto visit = [&](std::size_t vertex) {
        if (seen[vertex]) return;
        seen[vertex] = true;
        open.push_back(static_cast<std::uint32_t>(vertex));
    };
    while (!open.empty()) {
        const std::uint32_t vertex = open.back();
        open.pop_back();
        if (forward) {
            for (auto [edge, end] = boost::out_edges(vertex, graph); edge != end; ++edge)
                visit(boost::target(*edge, graph));
        } else {
            for (auto [edge, end] = boost::in_edges(vertex, graph); edge != end; ++edge)
                visit(boost::source(*edge, graph));
        }
    }
    return seen;
}

}  // namespace

void require_connected(const Topology& topology) {
    if (topology.hosts == 0) throw TopologyError("", "the topology has no hosts");
    for (const bool forward : {true, false}) {
        const std::vector<bool> seen = reached(topology.graph, 0, forward);
        for (std::uint32_t host = 0; host < topology.hosts; ++host) {
            if (seen[host]) continue;
            const std::string &first = topology.graph[0].name, &other = topology.graph[host].name;
            throw TopologyError(
                "", fmt::format("there is no path from '{}' to '{}'", forward ? first : other, forward ? other : first),
                "every host must be able to reach every other host");
        }
    }
}

}  // namespace syncline

#include "sim/topology/topology.hpp"

#include <fmt/format.h>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>

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

/// Returns the colours of the vertices, white for those that are not reached from host 0.
template <class Directed>
std::vector<boost::default_color_type> reached(const Directed& graph) {
    std::vector<boost::default_color_type> colours(boost::num_vertices(graph), boost::white_color);
    const auto by_vertex = boost::make_iterator_property_map(colours.begin(), boost::get(boost::vertex_index, graph));
    boost::queue<std::size_t> open;
    boost::breadth_first_visit(graph, std::size_t{0}, open, boost::bfs_visitor<>(), by_vertex);
    return colours;
}

}  // namespace

void require_connected(const Topology& topology) {
    if (topology.hosts == 0) throw TopologyError("", "the topology has no hosts");
    for (const bool forward : {true, false}) {
        const auto colours = forward ? reached(topology.graph) : reached(boost::make_reverse_graph(topology.graph));
        for (std::uint32_t host = 0; host < topology.hosts; ++host) {
            if (colours[host] != boost::white_color) continue;
            const std::string &first = topology.graph[0].name, &other = topology.graph[host].name;
            throw TopologyError(
                "", fmt::format("there is no path from '{}' to '{}'", forward ? first : other, forward ? other : first),
                "every host must be able to reach every other host");
        }
    }
}

}  // namespace syncline

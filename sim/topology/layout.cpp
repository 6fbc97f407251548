#include "sim/topology/layout.hpp"

#include <boost/graph/circle_layout.hpp>
#include <boost/graph/fruchterman_reingold.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sim/topology/families.hpp"

namespace syncline {

Point on_circle(double radius, double turn) {
    const double angle = 2 * std::numbers::pi * turn;
    return {radius * std::sin(angle), -radius * std::cos(angle)};
}

double radius_around(std::size_t members, double radius) {
    if (members < 2) return 0;
    return std::max(radius / std::sin(std::numbers::pi / static_cast<double>(members)), 1.2 * radius);
}

GraphLayout circle(const Topology& topology, bool in_middle) {
    const std::uint32_t all = topology.vertices();
    const std::uint32_t middle = topology.hosts < all ? topology.hosts : in_middle ? 0 : all;
    const std::uint32_t around = middle < all ? all - 1 : all;
    const double radius = std::max({90.0, around * 2.3, std::min(320.0, around * 16.0)});

    GraphLayout layout;
    layout.spacing = 2 * std::numbers::pi * radius / std::max(around, 2U);
    std::uint32_t place = 0;
    for (std::uint32_t vertex = 0; vertex < all; ++vertex) {
        const double turn = vertex == middle ? 0 : static_cast<double>(place++) / around;
        layout.at.push_back(vertex == middle ? Point{} : on_circle(radius, turn));
        layout.outward.push_back(on_circle(1, turn));
    }
    return layout;
}

CableEnds cable_ends(const Topology& topology) {
    CableEnds ends(topology.cables);
    std::vector<bool> seen(topology.cables, false);
    for (std::uint32_t from = 0; from < topology.vertices(); ++from)
        for (auto [edge, end] = boost::out_edges(from, topology.graph); edge != end; ++edge) {
            const std::uint32_t cable = topology.graph[*edge].cable;
            if (seen[cable]) continue;
            seen[cable] = true;
            ends[cable] = {from, static_cast<std::uint32_t>(boost::target(*edge, topology.graph))};
        }
    return ends;
}

GraphLayout springs(const Topology& topology) {
    GraphLayout layout = circle(topology, false);
    constexpr std::uint32_t most = 128;  // the time is dominated by repeated shortest paths: n³
    if (topology.vertices() > most || topology.vertices() < 3) return layout;

    using Square = boost::square_topology<>;
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph(topology.vertices());
    for (auto [edge, end] = boost::edges(topology.graph); edge != end; ++edge)
        boost::add_edge(boost::source(*edge, topology.graph), boost::target(*edge, topology.graph), graph);
    std::vector<Square::point_type> at(topology.vertices());
    const auto position = boost::make_iterator_property_map(at.begin(), boost::get(boost::vertex_index, graph));
    const double side = 60 * std::sqrt(topology.vertices()) + 100;
    boost::circle_graph_layout(graph, position, side / 2);
    // The number of rounds is fixed: Boost's Kamada-Kawai gives better layouts, but does not always terminate.
    boost::fruchterman_reingold_force_directed_layout(graph, position, Square(side),
                                                      boost::cooling(boost::linear_cooling<double>(400, side / 10)));
    layout.spacing = std::numeric_limits<double>::infinity();
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
        layout.at[vertex] = {at[vertex][0], at[vertex][1]};
        for (std::uint32_t other = 0; other < vertex; ++other) {
            const Point way = layout.at[vertex] - layout.at[other];
            layout.spacing = std::min(layout.spacing, std::hypot(way.x, way.y));
        }
        layout.outward[vertex] = {0.7, 0.7};
    }
    layout.spacing = std::max(layout.spacing, 14.0);
    return layout;
}

GraphLayout lay_out(const TopologySpec& spec, const Topology& topology) {
    if (const auto own = shapes::family_of(spec.shape).lay_out) return own(spec, topology);
    return topology.hosts < topology.vertices() ? layers(topology) : circle(topology, false);
}

}  // namespace syncline

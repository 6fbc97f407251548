#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/topology/shape.hpp"

/// Where to_svg draws the vertices: only its own files include this.
namespace syncline {

/// In pixels, y downwards.
struct Point {
    double x = 0, y = 0;
};

inline Point operator+(Point a, Point b) {
    return {a.x + b.x, a.y + b.y};
}
inline Point operator-(Point a, Point b) {
    return {a.x - b.x, a.y - b.y};
}
inline Point operator*(double factor, Point point) {
    return {factor * point.x, factor * point.y};
}

/// At `turn` of the way round a circle about (0, 0), clockwise from the top.
Point on_circle(double radius, double turn);

struct GraphLayout {
    std::vector<Point> at;       ///< by vertex
    std::vector<Point> outward;  ///< by vertex: a unit vector to where there is room for a label
    double spacing = 0;          ///< between neighbouring hosts
    std::vector<double> room;    ///< by vertex: width for an upright label; empty: as the spacing
    std::vector<bool> around;    ///< by cable: drawn as two stubs, as it leads round a torus; empty: none
};

GraphLayout arrange(const TopologySpec& spec, const Topology& topology);

/// The kinds of layout. Hosts on a circle, and in its middle a switch or, if there is no switch, host `in_middle`.
GraphLayout circle(const Topology& topology, bool in_middle);
/// Two dimensions are rows and columns, of three the planes stand behind each other.
GraphLayout grid(const std::vector<std::int64_t>& dimensions, const Topology& topology);
/// Levels above each other: of switches by their level with the hosts at the bottom, else by the distance from rank 0.
GraphLayout layers(const Topology& topology);
/// Circles of circles, by the sizes of the groups in each other, innermost first.
GraphLayout nested(const TopologySpec& spec, const Topology& topology);
/// Groups round a circle, each of them a circle of routers with their hosts outside.
GraphLayout groups_of_routers(const TopologySpec& spec, const Topology& topology);
/// Neighbours near each other: cables pull, vertices push each other away (T. Fruchterman, E. Reingold, "Graph drawing
/// by force-directed placement", 1991), or a circle if there are very many.
GraphLayout springs(const Topology& topology);
std::uint32_t routers_per_group(const TopologySpec& spec, const Topology& topology);

/// The ends of each cable, in the direction of a one-way cable.
std::vector<std::pair<std::uint32_t, std::uint32_t>> cable_ends(const Topology& topology);

}  // namespace syncline

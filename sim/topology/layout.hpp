#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/topology/shape.hpp"

/// Positions of the vertices in to_svg. Only the files that implement it include this.
namespace syncline {

/// A position in pixels; y points downwards.
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

/// Returns the point at the fraction `turn` of a circle about (0, 0), clockwise from the top.
Point on_circle(double radius, double turn);

/// Returns the radius of a circle around which `members` circles of the given radius fit side by side.
double radius_around(std::size_t members, double radius);

struct GraphLayout {
    std::vector<Point> at;       ///< by vertex
    std::vector<Point> outward;  ///< by vertex: a unit vector towards the space for a label
    double spacing = 0;          ///< between neighbouring hosts
    std::vector<double> room;    ///< by vertex: width for an upright label; empty: the spacing
    std::vector<bool> around;    ///< by cable: wraps around a torus, so it is drawn as two stubs; empty: none does
};

GraphLayout lay_out(const TopologySpec& spec, const Topology& topology);

/// Layouts that do not depend on the shape. `circle` puts hosts on a circle, and in its middle a switch or, if there is
/// none, host `in_middle`.
GraphLayout circle(const Topology& topology, bool in_middle);
/// Puts levels above each other: switches by their level with the hosts at the bottom, otherwise vertices by their
/// distance from rank 0.
GraphLayout layers(const Topology& topology);
/// Puts neighbours near each other: cables attract, vertices repel (T. Fruchterman, E. Reingold, "Graph drawing by
/// force-directed placement", 1991). Falls back to a circle if there are very many vertices.
GraphLayout springs(const Topology& topology);

/// The ends of each cable, in the direction of a one-way cable.
using CableEnds = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
CableEnds cable_ends(const Topology& topology);

}  // namespace syncline

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/topology/topology.hpp"

/// Topologies by name and parameters. As a fabric a shape's hosts are network ports, and trees have switches at their
/// inner vertices; as an overlay it consists of ranks only. Shapes are described at the top of their files:
/// patterns.cpp (star, ring, full-mesh, exponential, hypercube), tree.cpp, torus.cpp, hierarchy.cpp, fat_tree.cpp,
/// dragonfly.cpp, rails.cpp, user_graph.cpp.
///
/// Cables have levels, for their bandwidth and latency. Without switches all are of level 0, except that a torus has a
/// level for each dimension and a hierarchy one for each of its levels. With switches, level 0 is a host's cable, and a
/// switch's upward cable has the switch's level: in a dragonfly 1 within a group and 2 between groups, in a graph the
/// number of cables from the nearer end to the nearest host.
namespace syncline {

/// In the order in which files list the names.
enum class Shape {
    star,
    ring,
    tree,
    hierarchical,
    exponential,
    torus,
    hypercube,
    full_mesh,
    fat_tree,
    dragonfly,
    rails,
    graph
};

/// One level of a hierarchy: `size` members (0: as many as needed, outermost level only) connected in a pattern: star,
/// ring, full-mesh, exponential or hypercube.
struct HierarchyLevel {
    Shape pattern = Shape::star;
    std::int64_t size = 0;
};

struct UserEdge {
    std::string from, to;
    Wire wire;              ///< zero: the topology's values
    bool instant = false;   ///< a latency of zero is intended
    bool parallel = false;  ///< another cable between two vertices that have one, as a graph file says
};

/// What a graph's file says that is left out, or how it was read.
struct GraphNote {
    std::size_t line = 1;
    std::string text;
};

/// The contents of a topology file or of a `fabric:` or `overlay:` section.
struct TopologySpec {
    std::string name;
    Shape shape = Shape::star;
    /// 0: as many as the topology's user needs, or as the shape's parameters give.
    std::int64_t hosts = 0;
    /// Bandwidths and latencies of cables, by level; the last value applies to all further levels. Empty: zero.
    std::vector<double> bandwidth_Bps;
    std::vector<double> latency_s;

    bool directed = false;                 ///< exponential: one-way connections
    std::int64_t arity = 2;                ///< tree: children of a switch or rank
    std::int64_t depth = 0;                ///< tree: levels of switches; 0: as many as the hosts need
    std::vector<std::int64_t> dimensions;  ///< torus; empty: two, as square as possible
    std::vector<HierarchyLevel> levels;    ///< hierarchical, innermost first
    /// Fat tree, from the hosts up: children, parents, and parallel cables to each parent, of a vertex at each level.
    std::vector<std::int64_t> down, up, cables;
    std::int64_t ports = 0;  ///< fat tree: shorthand for three levels of switches with this many ports (k-ary fat tree)
    std::int64_t groups = 0, routers = 0, hosts_per_router = 0,
                 global_links = 0;                ///< dragonfly; global_links per router
    std::int64_t rails = 0, nodes_per_group = 0;  ///< rails; 0 nodes per group: one group
    std::int64_t rail_spines = 0;                 ///< rails: joining the leaves of each rail alone
    std::int64_t spines = -1;  ///< rails; -1: one if several leaves have no other; 0: rails are networks of their own
    std::vector<std::string> switches;  ///< graph: vertices that are switches
    /// graph: hosts in the order of their numbers; hosts missing here follow in the order in which edges name them.
    std::vector<std::string> order;
    std::vector<UserEdge> edges;   ///< graph
    std::vector<GraphNote> notes;  ///< graph: of its file
};

enum class Use { fabric, overlay };

/// Returns the topology of `spec` for `hosts` hosts (0: as the spec says; 16 if neither gives a number). An overlay has
/// exactly this number; a fabric may have more, of which the first are used. Throws TopologyError if parameters
/// contradict each other, the number of hosts or the use, if there would be too many cables, or if the result is not
/// connected, except rails without spines; `key` is then the parameter's name in files, "shape" for a shape that does
/// not fit the use.
Topology make_topology(const TopologySpec& spec, Use use, std::int64_t hosts = 0);

/// Returns true if rails are networks without a path between them.
bool has_separate_rails(const TopologySpec& spec);

/// Returns the shape's name in files: "star", "full-mesh".
const char* shape_name(Shape shape);

/// Maximum of any number in a file; products in make_topology then stay within 64 bits.
inline constexpr std::int64_t largest_count = 1 << 20;

/// Bounds of a wire, in every format: values outside come from a wrong unit.
inline constexpr double least_bandwidth_Bps = 1, most_bandwidth_Bps = 1e18, most_latency_s = 3600;

/// Maximum number of cables of a topology.
inline constexpr std::int64_t most_cables = 500'000;

}  // namespace syncline

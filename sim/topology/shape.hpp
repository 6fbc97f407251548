#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/topology/topology.hpp"

/// Topologies by name and parameters.
///
/// Each shape has two readings. As a fabric its hosts are network ports, and trees have switches at their inner
/// vertices; as an overlay there are ranks only, so that ranks stand at the inner vertices themselves. Shapes without
/// switches are the same in both.
///
/// - star: every host on one switch. Overlay: rank 0 with every other.
/// - ring: host i with i + 1 mod n; two hosts have one cable.
/// - exponential: host i with i ± 2^k mod n for all 2^k < n, no two of them twice; directed: one way to i + 2^k.
/// - hypercube: host i with i xor 2^k; n is a power of two.
/// - full-mesh: every two hosts.
/// - torus: 1 to 3 dimensions d0, d1, d2; the host at (x, y, z) has number x + d0·(y + d1·z).
/// - tree: `depth` levels of switches, each above `arity` of the level below, as far as there are hosts: the last ones
///   may have fewer. Overlay: a heap, rank i above arity·i + 1 … arity·i + arity.
/// - hierarchical: groups of neighbours by number, groups of groups, …, each level joined in a pattern of its own. A
///   group is represented by its switch where the pattern is a star and the use a fabric, and by its first member
///   elsewhere. With an open outermost size, the last group of each level may be incomplete.
/// - fat-tree: parallel-ports generalised fat tree PGFT(h; m; w; p), E. Zahavi, "D-Mod-K routing providing
///   non-blocking traffic for shift permutations on real life fat trees", 2010; m is `down`, w `up`, p `cables`. With
///   none of them, the smallest k-ary one that has room. No overlay.
/// - dragonfly: J. Kim et al., ISCA 2008; at most ah + 1 groups, every two joined by as many cables as there are global
///   ports for, ⌊ah / (g-1)⌋, in the absolute arrangement of E. Hastings et al., CLUSTER 2015. What is open is balanced
///   (a = 2p = 2h, g = ah + 1), with the smallest p that has room. No overlay.
/// - rails: host i is port i mod r of node i div r, for r rails; each group of nodes has a leaf switch for each rail,
///   and every leaf is joined to every spine. Nodes are whole: there are as many as have room. No overlay.
/// - graph: the user's own; hosts in the order in which `edges` names them. No overlay if it has switches.
///
/// Cables have levels, for their bandwidth and latency: all are of level 0 where there are no switches, but a torus has
/// a level for each dimension and a hierarchy one for each of its own. With switches, level 0 is a host's cable, and a
/// switch's cable upwards is of the switch's level: dragonfly 1 within a group and 2 between groups, graph the number
/// of cables from the nearer end to the nearest host.
namespace syncline {

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

/// One level of a hierarchy: `size` members (0: as many as it takes, outermost level only) joined in a pattern, one of
/// star, ring, full-mesh, exponential, hypercube.
struct HierarchyLevel {
    Shape pattern = Shape::star;
    std::int64_t size = 0;
};

struct UserEdge {
    std::string from, to;
    Wire wire;             ///< zero: the topology's own
    bool instant = false;  ///< a latency of zero is meant
};

/// What a topology file or a `fabric:` or `overlay:` section holds.
struct TopologySpec {
    std::string name;
    Shape shape = Shape::star;
    /// 0: as many as whoever uses the topology needs, or as the shape's parameters give.
    std::int64_t hosts = 0;
    /// Of the cables, by level; the last also for all further levels. Empty: zero.
    std::vector<double> bandwidth_Bps;
    std::vector<double> latency_s;

    bool directed = false;                 ///< exponential: one-way connections
    std::int64_t arity = 2;                ///< tree: children of a switch or rank
    std::int64_t depth = 0;                ///< tree: levels of switches; 0: as many as the hosts need
    std::vector<std::int64_t> dimensions;  ///< torus; empty: two, as square as it gets
    std::vector<HierarchyLevel> levels;    ///< hierarchical, innermost first
    /// Fat tree, from the hosts up: children, parents, and parallel cables to each parent, of a vertex at each level.
    std::vector<std::int64_t> down, up, cables;
    std::int64_t ports = 0;  ///< fat tree: short for three levels of switches with so many ports each (k-ary fat tree)
    std::int64_t groups = 0, routers = 0, hosts_per_router = 0,
                 global_links = 0;                            ///< dragonfly; global_links per router
    std::int64_t rails = 0, nodes_per_group = 0, spines = 0;  ///< rails; 0 nodes per group: one group
    std::vector<std::string> switches;                        ///< graph: which vertices are none of the hosts
    /// graph: hosts in the order of their numbers; those that are not here follow as edges first name them.
    std::vector<std::string> order;
    std::vector<UserEdge> edges;  ///< graph
};

enum class Use { fabric, overlay };

/// The topology of `spec` for `hosts` hosts (0: as the spec says; where neither says, 16). An overlay has exactly so
/// many. A fabric may have more, where the spec says a larger number or its parameters fix a larger shape (a torus of
/// 4 × 4 for 10 hosts): the first ones are used, the others only forward. Throws TopologyError when the parameters do
/// not fit each other, the number of hosts or the use, when it would have too many cables, or
/// when the result is not connected; `key` is then the parameter's name in files, "shape" for a shape that does not fit
/// the use.
Topology make_topology(const TopologySpec& spec, Use use, std::int64_t hosts = 0);

/// Sizes of a torus of so many hosts: the spec's, or two, as square as it gets. The first one counts fastest.
std::vector<std::int64_t> torus_dimensions(const TopologySpec& spec, std::int64_t hosts);

/// "star", "full-mesh": as in files.
const char* shape_name(Shape shape);

/// At most so many cables are made.
inline constexpr std::int64_t most_cables = 500'000;

}  // namespace syncline

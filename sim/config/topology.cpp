#include <fmt/format.h>

#include <algorithm>

#include "sim/config/bandwidths.hpp"
#include "sim/config/files.hpp"
#include "sim/topology/formats.hpp"

namespace syncline::config {

namespace {

/// Maximum of any count; products in make_topology then stay within 64 bits.
constexpr std::int64_t largest_size = 1 << 20;
constexpr QuantityRange latencies{.word = "none", .most = 3600};

const std::vector<Shape> shapes{Shape::star,        Shape::ring,      Shape::tree,      Shape::hierarchical,
                                Shape::exponential, Shape::torus,     Shape::hypercube, Shape::full_mesh,
                                Shape::fat_tree,    Shape::dragonfly, Shape::rails,     Shape::graph};

std::vector<std::pair<std::string, Shape>> named(const std::vector<Shape>& some) {
    std::vector<std::pair<std::string, Shape>> result;
    for (const Shape shape : some) result.emplace_back(shape_name(shape), shape);
    return result;
}

/// Keys and the shape to which each applies. Keys that are not listed apply to all shapes.
const std::vector<std::pair<const char*, Shape>> owners{
    {"directed", Shape::exponential},
    {"arity", Shape::tree},
    {"depth", Shape::tree},
    {"dimensions", Shape::torus},
    {"levels", Shape::hierarchical},
    {"down", Shape::fat_tree},
    {"up", Shape::fat_tree},
    {"cables", Shape::fat_tree},
    {"ports", Shape::fat_tree},
    {"groups", Shape::dragonfly},
    {"routers", Shape::dragonfly},
    {"hosts_per_router", Shape::dragonfly},
    {"global_links", Shape::dragonfly},
    {"rails", Shape::rails},
    {"nodes_per_group", Shape::rails},
    {"spines", Shape::rails},
    {"switches", Shape::graph},
    {"edges", Shape::graph},
    {"file", Shape::graph},
};

/// Returns "a tree", "an exponential graph".
std::string called(Shape shape) {
    if (shape == Shape::exponential) return "an exponential graph";
    if (shape == Shape::rails) return "a rails topology";
    if (shape == Shape::hierarchical) return "a hierarchical topology";
    return fmt::format("a {}", shape_name(shape));
}

void check_keys(Fields& fields, Shape shape) {
    for (const auto& [key, owner] : owners)
        if (fields.given(key) && owner != shape)
            fields.reject(key, fmt::format("'{}' has no effect in {}", key, called(shape)),
                          fmt::format("it applies to {}: `topology: {}`", called(owner), shape_name(owner)));
    if (shape != Shape::graph) return;
    if (fields.given("file") && fields.given("edges"))
        fields.reject("edges", "'edges' and 'file' exclude each other", "remove one of the two");
    if (!fields.given("file") && !fields.given("edges"))
        fields.reject("edges", "a graph needs 'edges', or a 'file' that holds them", "");
}

void describe(Fields& fields, HierarchyLevel& level) {
    fields.one_of({"pattern", "Pattern that connects the members of one group.", true}, level.pattern,
                  named({Shape::star, Shape::ring, Shape::full_mesh, Shape::exponential, Shape::hypercube}));
    fields.integer({"size", "Number of members of one group. Default of the outermost level: as many as needed."},
                   level.size, 1, largest_size);
}

void describe(Fields& fields, UserEdge& edge) {
    fields.text({"from", "Name of a host or switch.", true}, edge.from);
    fields.text({"to", "Name of another host or switch.", true}, edge.to);
    fields.quantity({"bandwidth", "Bandwidth of this cable in each direction. Default: the topology's."},
                    edge.wire.bandwidth_Bps, Dimension::bandwidth, bandwidths);
    fields.quantity({"latency", "Latency of this cable. Default: the topology's."}, edge.wire.latency_s,
                    Dimension::seconds, latencies);
    edge.instant = fields.given("latency") && edge.wire.latency_s == 0;
}

void describe_graph(Fields& fields, TopologySpec& spec) {
    fields.texts({"switches", "Vertices of a graph that are not hosts."}, spec.switches);
    fields.each({"edges", "Cables of a graph."}, [&](Fields& entry) {
        UserEdge edge;
        describe(entry, edge);
        if (entry.sound()) spec.edges.push_back(std::move(edge));
    });
    fields.file({"file", "GraphML or DOT file that holds a graph, relative to this file."},
                [&](const std::string& path, const std::string& text) {
                    try {
                        TopologySpec graph = parse_graph(path, text);
                        spec.edges = std::move(graph.edges);
                        spec.order = std::move(graph.order);
                        for (std::string& name : graph.switches) spec.switches.push_back(std::move(name));
                    } catch (const TopologyError& error) {
                        fields.reject("file", error.what(), error.hint);
                    }
                });
}

}  // namespace

const std::vector<std::string>& shape_names() {
    static const auto names = [] {
        std::vector<std::string> result;
        for (const Shape shape : shapes) result.emplace_back(shape_name(shape));
        return result;
    }();
    return names;
}

bool is_shape(const std::string& name) {
    return std::find(shape_names().begin(), shape_names().end(), name) != shape_names().end();
}

void describe(Fields& fields, TopologySpec& spec) {
    fields.text({"name", "Name shown in messages and results."}, spec.name);
    fields.one_of({"topology", "Shape of the topology, which determines its other keys."}, spec.shape, named(shapes));
    fields.integer(
        {"hosts", "Number of hosts. Default: as many as the other keys determine, or else as many as needed."},
        spec.hosts, 1, largest_size);
    fields.quantities({"bandwidth",
                       "Bandwidth of a cable in each direction: `25 Gbps`; or a list by level, hosts first, whose last "
                       "value applies to all further levels."},
                      spec.bandwidth_Bps, Dimension::bandwidth, bandwidths);
    fields.quantities({"latency", "Latency of a cable: `1 us`, or `none`; or a list by level, as for `bandwidth`."},
                      spec.latency_s, Dimension::seconds, latencies);

    fields.flag({"directed",
                 "Direction of an exponential graph: only connections from i to i + 2^k, without those to i - 2^k."},
                spec.directed);
    fields.integer({"arity", "Children of each switch or rank in a tree."}, spec.arity, 1, largest_size);
    fields.integer({"depth", "Levels of switches in a tree. Default: as many as the hosts need."}, spec.depth, 1, 64);
    fields.integer_list(
        {"dimensions", "Hosts along each of one to three axes of a torus. Default: two axes, nearly a square."},
        spec.dimensions, 1, largest_size);
    fields.each({"levels",
                 "Levels of a hierarchical topology, groups of groups, innermost first. In an overlay rank 0 of a "
                 "group represents it at the next level."},
                [&](Fields& entry) {
                    HierarchyLevel level;
                    describe(entry, level);
                    if (entry.sound()) spec.levels.push_back(level);
                });
    fields.integer_list({"down", "Children of a switch in a fat tree, by level from the hosts up."}, spec.down, 1,
                        largest_size);
    fields.integer_list({"up", "Parents of a vertex in a fat tree, by level from the hosts up."}, spec.up, 1,
                        largest_size);
    fields.integer_list({"cables", "Parallel cables to each parent in a fat tree, by level from the hosts up."},
                        spec.cables, 1, largest_size);
    fields.integer(
        {"ports", "Number of ports of each switch; short form of a fat tree with three levels of such switches."},
        spec.ports, 2, largest_size);
    fields.integer({"groups", "Number of groups of routers in a dragonfly."}, spec.groups, 1, largest_size);
    fields.integer({"routers", "Number of routers of a group in a dragonfly."}, spec.routers, 1, largest_size);
    fields.integer({"hosts_per_router", "Number of hosts of a router in a dragonfly."}, spec.hosts_per_router, 1,
                   largest_size);
    fields.integer({"global_links", "Number of cables of a router to other groups in a dragonfly."}, spec.global_links,
                   1, largest_size);
    fields.integer({"rails", "Number of rails: network ports of a node, each on its own rail."}, spec.rails, 1,
                   largest_size);
    fields.integer(
        {"nodes_per_group", "Number of nodes that share leaf switches in a rails topology. Default: all nodes."},
        spec.nodes_per_group, 1, largest_size);
    fields.integer({"spines", "Number of switches that join all leaves in a rails topology."}, spec.spines, 1,
                   largest_size);
    describe_graph(fields, spec);
    check_keys(fields, spec.shape);
}

std::optional<Topology> build(Fields& fields, const TopologySpec& spec, Use use, std::int64_t hosts) {
    try {
        return make_topology(spec, use, hosts);
    } catch (const TopologyError& error) {
        fields.reject(error.key == "shape" ? "topology" : error.key, error.what(), error.hint);
        return {};
    }
}

}  // namespace syncline::config

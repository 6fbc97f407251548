#include <fmt/format.h>

#include <algorithm>

#include "sim/config/bandwidths.hpp"
#include "sim/config/files.hpp"
#include "sim/topology/formats.hpp"

namespace syncline::config {

namespace {

/// Of anything counted: what make_topology multiplies then stays within 64 bits.
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

/// Which shape a key belongs to. Keys that are not here belong to all.
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

/// "a tree", "an exponential graph"
std::string called(Shape shape) {
    if (shape == Shape::exponential) return "an exponential graph";
    if (shape == Shape::rails) return "a rails topology";
    if (shape == Shape::hierarchical) return "a hierarchical topology";
    return fmt::format("a {}", shape_name(shape));
}

void check_keys(Fields& fields, Shape shape) {
    for (const auto& [key, owner] : owners)
        if (fields.given(key) && owner != shape)
            fields.reject(key, fmt::format("'{}' is of no use to {}", key, called(shape)),
                          fmt::format("{} has it: `topology: {}`", called(owner), shape_name(owner)));
    if (shape != Shape::graph) return;
    if (fields.given("file") && fields.given("edges"))
        fields.reject("edges", "the edges are in 'file' already", "give one of 'file' and 'edges'");
    if (!fields.given("file") && !fields.given("edges"))
        fields.reject("edges", "a graph needs 'edges', or a 'file' that holds them", "");
}

void describe(Fields& fields, HierarchyLevel& level) {
    fields.one_of({"pattern", "How the members of one group are joined.", true}, level.pattern,
                  named({Shape::star, Shape::ring, Shape::full_mesh, Shape::exponential, Shape::hypercube}));
    fields.integer({"size", "Members of one group; the outermost level has as many as it takes if this is left out."},
                   level.size, 1, largest_size);
}

void describe(Fields& fields, UserEdge& edge) {
    fields.text({"from", "A host or switch, by its name.", true}, edge.from);
    fields.text({"to", "Another one.", true}, edge.to);
    fields.quantity({"bandwidth", "Of this cable, each direction; by default the topology's."}, edge.wire.bandwidth_Bps,
                    Dimension::bandwidth, bandwidths);
    fields.quantity({"latency", "Of this cable; by default the topology's."}, edge.wire.latency_s, Dimension::seconds,
                    latencies);
    edge.instant = fields.given("latency") && edge.wire.latency_s == 0;
}

void describe_graph(Fields& fields, TopologySpec& spec) {
    fields.texts({"switches", "Graph: which vertices are none of the hosts."}, spec.switches);
    fields.each({"edges", "Graph: its cables."}, [&](Fields& entry) {
        UserEdge edge;
        describe(entry, edge);
        if (entry.sound()) spec.edges.push_back(std::move(edge));
    });
    fields.file({"file", "Graph: a GraphML or DOT file that holds it, relative to this one."},
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
    fields.text({"name", "Shown in messages and results."}, spec.name);
    fields.one_of({"topology", "The shape; which other keys there are depends on it."}, spec.shape, named(shapes));
    fields.integer({"hosts", "How many; by default as many as are needed, or as the other keys make."}, spec.hosts, 1,
                   largest_size);
    fields.quantities({"bandwidth",
                       "Of a cable, each direction: `25 Gbps`; or a list by level, hosts first, of which the last is "
                       "for all further levels."},
                      spec.bandwidth_Bps, Dimension::bandwidth, bandwidths);
    fields.quantities({"latency", "Of a cable: `1 us`, or `none`; or a list by level, as for `bandwidth`."},
                      spec.latency_s, Dimension::seconds, latencies);

    fields.flag({"directed", "Exponential: connections i to i + 2^k only, without those to i - 2^k."}, spec.directed);
    fields.integer({"arity", "Tree: children of each switch or rank."}, spec.arity, 1, largest_size);
    fields.integer({"depth", "Tree: levels of switches; by default as many as the hosts need."}, spec.depth, 1, 64);
    fields.integer_list({"dimensions", "Torus: hosts along each of one to three axes; by default two, near a square."},
                        spec.dimensions, 1, largest_size);
    fields.each({"levels", "Hierarchical: groups of groups, innermost first."}, [&](Fields& entry) {
        HierarchyLevel level;
        describe(entry, level);
        if (entry.sound()) spec.levels.push_back(level);
    });
    fields.integer_list({"down", "Fat tree: children of a switch, by level from the hosts up."}, spec.down, 1,
                        largest_size);
    fields.integer_list({"up", "Fat tree: parents of a vertex, by level from the hosts up."}, spec.up, 1, largest_size);
    fields.integer_list({"cables", "Fat tree: parallel cables to each parent, by level from the hosts up."},
                        spec.cables, 1, largest_size);
    fields.integer({"ports", "Fat tree: short for three levels of switches with so many ports each."}, spec.ports, 2,
                   largest_size);
    fields.integer({"groups", "Dragonfly: of routers."}, spec.groups, 1, largest_size);
    fields.integer({"routers", "Dragonfly: of a group."}, spec.routers, 1, largest_size);
    fields.integer({"hosts_per_router", "Dragonfly: of a router."}, spec.hosts_per_router, 1, largest_size);
    fields.integer({"global_links", "Dragonfly: cables of a router to other groups."}, spec.global_links, 1,
                   largest_size);
    fields.integer({"rails", "Rails: network ports of a node, each on a rail of its own."}, spec.rails, 1,
                   largest_size);
    fields.integer({"nodes_per_group", "Rails: nodes that share leaf switches; by default all."}, spec.nodes_per_group,
                   1, largest_size);
    fields.integer({"spines", "Rails: switches that join all leaves."}, spec.spines, 1, largest_size);
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

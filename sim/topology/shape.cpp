#include "sim/topology/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/topology/builder.hpp"

namespace syncline {

namespace {

void require_range(const char* key, std::int64_t value, std::int64_t least) {
    if (value < least)
        throw TopologyError(key, fmt::format("'{}' is {}, less than the minimum of {}", key, value, least));
    if (value > shapes::most_vertices) shapes::refuse_so_many(key);
}

/// After these checks, the product of two numbers does not overflow.
void require_ranges(const TopologySpec& spec) {
    for (const auto& [key, value] : {std::pair{"hosts", spec.hosts},
                                     {"depth", spec.depth},
                                     {"ports", spec.ports},
                                     {"groups", spec.groups},
                                     {"routers", spec.routers},
                                     {"hosts_per_router", spec.hosts_per_router},
                                     {"global_links", spec.global_links},
                                     {"rails", spec.rails},
                                     {"nodes_per_group", spec.nodes_per_group},
                                     {"spines", spec.spines}})
        require_range(key, value, 0);
    require_range("arity", spec.arity, 1);
    for (const HierarchyLevel& level : spec.levels) require_range("levels", level.size, 0);
    for (const std::int64_t size : spec.dimensions) require_range("dimensions", size, 1);
    for (const std::int64_t children : spec.down) require_range("down", children, 1);
    for (const std::int64_t parents : spec.up) require_range("up", parents, 1);
    for (const std::int64_t parallel : spec.cables) require_range("cables", parallel, 1);
}

void require_agreement(const shapes::Request& request) {
    const std::int64_t said = request.spec.hosts, needed = request.needed;
    if (needed < 0) throw std::logic_error("the number of hosts is negative");
    if (needed > shapes::most_vertices) shapes::refuse_so_many("hosts");
    if (said != 0 && (request.fabric() ? needed > said : needed != 0 && needed != said))
        throw TopologyError("hosts",
                            fmt::format("there are {} {}, but {} are needed", said, request.hosts_word(), needed));
}

Topology build(const shapes::Request& request) {
    const TopologySpec& spec = request.spec;
    switch (spec.shape) {
        case Shape::star:
        case Shape::ring:
        case Shape::exponential:
        case Shape::hypercube:
        case Shape::full_mesh:
            return shapes::hierarchical(request, std::array{HierarchyLevel{spec.shape, 0}});
        case Shape::tree:
            return shapes::tree(request);
        case Shape::hierarchical:
            return shapes::hierarchical(request, spec.levels);
        case Shape::torus:
            return shapes::torus(request);
        case Shape::fat_tree:
            return shapes::fat_tree(request);
        case Shape::dragonfly:
            return shapes::dragonfly(request);
        case Shape::rails:
            return shapes::rails(request);
        case Shape::graph:
            return shapes::user_graph(request);
    }
    throw std::logic_error("the shape has no builder");
}

/// Returns whether all choices between equally short paths are directions around a ring, or dimensions of a torus.
bool is_circular(const TopologySpec& spec) {
    if (spec.shape == Shape::ring || spec.shape == Shape::torus) return true;
    const auto branches = [](const HierarchyLevel& level) {
        return level.pattern == Shape::exponential || level.pattern == Shape::hypercube;
    };
    return spec.shape == Shape::hierarchical && std::none_of(spec.levels.begin(), spec.levels.end(), branches);
}

}  // namespace

Topology make_topology(const TopologySpec& spec, Use use, std::int64_t hosts) {
    const bool switches_only =
        spec.shape == Shape::fat_tree || spec.shape == Shape::dragonfly || spec.shape == Shape::rails;
    if (switches_only && use == Use::overlay)
        throw TopologyError(
            "shape", fmt::format("an overlay consists of ranks only, but {} has switches", shape_name(spec.shape)));
    if (spec.directed && spec.shape != Shape::exponential)
        throw TopologyError("directed",
                            fmt::format("only the exponential graph can be directed, not {}", shape_name(spec.shape)));
    TopologySpec bare = spec;
    if (use == Use::overlay) {
        // Overlays ignore bandwidths, and may have fewer levels of cables than the fabric.
        bare.bandwidth_Bps.clear();
        bare.latency_s.clear();
    }
    const shapes::Request request{bare, use, hosts};
    require_ranges(spec);
    require_agreement(request);
    Topology topology = build(request);
    topology.circular = is_circular(spec);
    require_connected(topology);
    return topology;
}

const char* shape_name(Shape shape) {
    switch (shape) {
        case Shape::star:
            return "star";
        case Shape::ring:
            return "ring";
        case Shape::tree:
            return "tree";
        case Shape::hierarchical:
            return "hierarchical";
        case Shape::exponential:
            return "exponential";
        case Shape::torus:
            return "torus";
        case Shape::hypercube:
            return "hypercube";
        case Shape::full_mesh:
            return "full-mesh";
        case Shape::fat_tree:
            return "fat-tree";
        case Shape::dragonfly:
            return "dragonfly";
        case Shape::rails:
            return "rails";
        case Shape::graph:
            return "graph";
    }
    throw std::logic_error("the shape has no name");
}

}  // namespace syncline

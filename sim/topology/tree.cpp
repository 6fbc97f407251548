#include <fmt/format.h>

#include "sim/topology/builder.hpp"
#include "sim/topology/layout.hpp"

/// Tree: `depth` levels of switches, each switch above `arity` vertices of the level below, as far as there are hosts:
/// the last switches may have fewer. Overlay: a heap, rank i above arity·i + 1 … arity·i + arity.
namespace syncline::shapes {

namespace {

/// Builds a heap: rank i above ranks arity·i + 1 … arity·i + arity.
Topology tree_of_ranks(const Request& request) {
    if (request.spec.depth != 0)
        throw TopologyError("depth", "the depth of an overlay follows from its arity and number of ranks", "remove it");
    Builder builder(request, 1);
    const std::int64_t ranks = request.hosts();
    builder.add_hosts(ranks);
    for (std::int64_t rank = 1; rank < ranks; ++rank) builder.add_cable(rank, (rank - 1) / request.spec.arity, 0);
    return builder.take();
}

std::int64_t least_depth(std::int64_t hosts, std::int64_t arity) {
    if (arity == 1 && hosts > 1)
        throw TopologyError("arity", fmt::format("a tree of arity 1 has room for 1 host only, not {}", hosts));
    std::int64_t depth = 1;
    for (std::int64_t room = arity; room < hosts; room *= arity) ++depth;
    return depth;
}

std::int64_t room_of(std::int64_t arity, std::int64_t depth) {
    std::int64_t room = 1;
    for (std::int64_t level = 0; level < depth; ++level) room = capped_product(room, arity);
    return room;
}

Topology tree_of_switches(const Request& request) {
    const std::int64_t arity = request.spec.arity;
    const std::int64_t hosts =
        request.spec.depth == 0 ? request.hosts() : request.hosts(room_of(arity, request.spec.depth));
    const std::int64_t depth = request.spec.depth == 0 ? least_depth(hosts, arity) : request.spec.depth;
    if (room_of(arity, depth) < hosts)
        throw TopologyError(
            "hosts", fmt::format("a tree of arity {} and depth {} has room for {} hosts, but {} are needed", arity,
                                 depth, room_of(arity, depth), hosts));
    Builder builder(request, depth);
    builder.add_hosts(hosts);
    std::int64_t first_below = 0, below = hosts;
    for (std::int64_t level = 1; level <= depth; ++level) {
        const std::int64_t first = first_below + below;
        for (std::int64_t child = 0; child < below; ++child) {
            const std::int64_t parent = child / arity;
            if (child % arity == 0)
                builder.add_switch(
                    depth == 1 ? fmt::format("switch-{}", parent) : fmt::format("switch-{}-{}", level, parent), level);
            builder.add_cable(first_below + child, first + parent, level - 1);
        }
        first_below = first;
        below = (below + arity - 1) / arity;
    }
    return builder.take();
}

constexpr ShapeParameter tree_parameters[]{
    {"arity", &TopologySpec::arity, "Children of each switch or rank in a tree."},
    {"depth", &TopologySpec::depth, "Levels of switches in a tree. Default: as many as the hosts need.", 1, 64}};

}  // namespace

constinit const Family families::tree{
    .shape = Shape::tree,
    .name = "tree",
    .parameters = tree_parameters,
    .build = [](const Request& it) { return it.fabric() ? tree_of_switches(it) : tree_of_ranks(it); },
    .lay_out = [](const TopologySpec&, const Topology& it) { return layers(it); }};

}  // namespace syncline::shapes

#include <fmt/format.h>

#include "sim/topology/bisection.hpp"
#include "sim/topology/builder.hpp"

/// Rails: host i is port i mod r of node i div r, for r rails; each group of nodes has a leaf switch for each rail, and
/// every leaf is connected to every spine, and to those of its rail. Nodes are whole: the smallest number with room for
/// all hosts. Without spines for all a rail is a network of its own: W. Wang et al., "Rail-only: A Low-Cost
/// High-Performance Network for Training LLMs with Trillion Parameters", HOTI 2024 (arXiv 2307.12169); with spines of
/// its own a plane of DeepSeek's multi-plane fat tree (arXiv 2505.09343).
namespace syncline::shapes {

namespace {

/// Counts the nodes; each has a port on every rail, used or not.
std::int64_t count_nodes(const Request& request) {
    const std::int64_t rails = request.spec.rails, hosts = request.hosts();
    const std::int64_t nodes = (hosts + rails - 1) / rails;
    if (request.spec.hosts != 0 && hosts != nodes * rails)
        throw TopologyError(
            "hosts", fmt::format("{1} hosts are not a whole number of nodes with {0} rails", rails, hosts),
            hosts < rails ? fmt::format("{}", rails) : fmt::format("{} or {}", (nodes - 1) * rails, nodes * rails));
    return nodes;
}

Topology build_rails(const Request& request) {
    const TopologySpec& spec = request.spec;
    if (spec.rails == 0) throw TopologyError("rails", "the number of rails is missing");
    const std::int64_t nodes = count_nodes(request), hosts = nodes * spec.rails;
    const std::int64_t group_size = spec.nodes_per_group == 0 ? nodes : spec.nodes_per_group;
    const std::int64_t groups = (nodes + group_size - 1) / group_size;
    const std::int64_t leaves = groups * spec.rails;
    const std::int64_t spines = spec.spines < 0 ? (leaves > 1 && spec.rail_spines == 0 ? 1 : 0) : spec.spines;
    if (spines == 0 && spec.rail_spines == 0 && groups > 1)
        throw TopologyError("spines", fmt::format("{} groups of nodes need spines that join them", groups),
                            "leave out `nodes_per_group`, or write `rail_spines: 1` or `spines: 1`");

    Builder builder(request, 2);
    builder.add_hosts(hosts);
    builder.blame("rails");
    for (std::int64_t leaf = 0; leaf < leaves; ++leaf) builder.add_switch(fmt::format("leaf-{}", leaf), 1);
    for (std::int64_t host = 0; host < hosts; ++host) {
        const std::int64_t node = host / spec.rails, rail = host % spec.rails;
        builder.add_cable(host, hosts + node / group_size * spec.rails + rail, 0);
    }
    builder.blame("rail_spines");
    for (std::int64_t rail = 0; rail < spec.rails; ++rail)
        for (std::int64_t i = 0; i < spec.rail_spines; ++i) {
            const std::int64_t spine = builder.add_switch(fmt::format("rail-{}-spine-{}", rail, i), 2);
            for (std::int64_t group = 0; group < groups; ++group)
                builder.add_cable(hosts + group * spec.rails + rail, spine, 1);
        }
    builder.blame("spines");
    for (std::int64_t i = 0; i < spines; ++i) {
        const std::int64_t spine = builder.add_switch(fmt::format("spine-{}", i), 2);
        for (std::int64_t leaf = 0; leaf < leaves; ++leaf) builder.add_cable(hosts + leaf, spine, 1);
    }
    Topology topology = builder.take();
    if (spines == 0) topology.parts = static_cast<std::uint32_t>(spec.rails);
    return topology;
}

constexpr ShapeParameter rails_parameters[]{
    {"rails", &TopologySpec::rails, "Number of rails: network ports of a node, each on its own rail."},
    {"nodes_per_group", &TopologySpec::nodes_per_group,
     "Number of nodes that share leaf switches in a rails topology. Default: all nodes."},
    {"rail_spines", &TopologySpec::rail_spines,
     "Number of switches for each rail that join its leaves in a rails topology."},
    {"spines", &TopologySpec::spines,
     "Number of switches that join all leaves in a rails topology; 0: none, each rail is a network of its own. "
     "Default: "
     "1, if there are several leaves without `rail_spines`.",
     0}};

}  // namespace

constinit const Family families::rails{.shape = Shape::rails,
                                       .name = "rails",
                                       .called = "a rails topology",
                                       .parameters = rails_parameters,
                                       .overlay = false,
                                       .build = build_rails,
                                       .bisection = bisect_fat_tree};

}  // namespace syncline::shapes

bool syncline::has_separate_rails(const TopologySpec& spec) {
    return spec.shape == Shape::rails && spec.rails > 1 &&
           (spec.spines == 0 || (spec.spines < 0 && spec.rail_spines > 0));
}

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/topology/builder.hpp"
#include "sim/topology/layout.hpp"

/// Dragonfly: J. Kim et al., ISCA 2008; at most ah + 1 groups, every pair connected by as many cables as the global
/// ports allow, ⌊ah / (g-1)⌋, in the absolute arrangement of E. Hastings et al., CLUSTER 2015. Parameters that are not
/// given are balanced (a = 2p = 2h, g = ah + 1), with the smallest p that is large enough.
namespace syncline::shapes {

namespace {

/// Uses the letters of J. Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008.
struct Parameters {
    std::int64_t p;  ///< hosts of a router
    std::int64_t a;  ///< routers of a group
    std::int64_t h;  ///< global cables of a router
    std::int64_t g;  ///< groups

    std::int64_t global_ports() const { return capped_product(a, h); }
    std::int64_t hosts() const { return capped_product(capped_product(a, p), g); }
    /// Returns true if every pair of groups can have a cable of its own.
    bool joined() const { return g - 1 <= global_ports(); }
};

/// Balances the parameters that the spec leaves open (a = 2p = 2h); the dragonfly is as large as possible (g = ah + 1).
Parameters balanced(const TopologySpec& spec, std::int64_t p) {
    Parameters it{p, spec.routers, spec.global_links, spec.groups};
    if (it.a == 0) it.a = 2 * p;
    if (it.h == 0) it.h = p;
    if (it.g == 0) it.g = it.global_ports() + 1;
    return it;
}

Parameters parameters(const Request& request) {
    const TopologySpec& spec = request.spec;
    Parameters it = balanced(spec, spec.hosts_per_router == 0 ? 1 : spec.hosts_per_router);
    if (spec.hosts_per_router == 0) {
        const bool fixed = spec.routers != 0 && spec.global_links != 0;
        while (it.hosts() < request.hosts() || (!it.joined() && !fixed)) it = balanced(spec, it.p + 1);
    } else {
        request.require_fit(it.hosts(),
                            fmt::format("the dragonfly of {} groups of {} routers with {}", it.g, it.a,
                                        it.p == 1 ? "1 host" : fmt::format("{} hosts", it.p)),
                            "hosts_per_router");
    }
    if (!it.joined())
        throw TopologyError(
            "groups",
            fmt::format("{} groups are too many for groups of {} routers with {} global links each", it.g, it.a, it.h),
            fmt::format("at most {}", it.global_ports() + 1));
    return it;
}

/// The "absolute" arrangement of E. Hastings et al., "Comparing Global Link Arrangements for Dragonfly Networks",
/// CLUSTER 2015: the k-th port of a group leads to group k, or to k + 1 from its own number on. Remaining ports repeat
/// the pattern as long as they suffice for another cable between every pair of groups.
void join_groups(Builder& builder, const Parameters& it, std::int64_t first_router) {
    if (it.g == 1) return;
    const auto router = [&](std::int64_t group, std::int64_t port) {
        return first_router + group * it.a + port / it.h;
    };
    const std::int64_t others = it.g - 1;
    for (std::int64_t port = 0; port + others <= it.global_ports(); port += others) {
        for (std::int64_t i = 0; i < it.g; ++i) {
            for (std::int64_t j = i + 1; j < it.g; ++j)
                builder.add_cable(router(i, port + j - 1), router(j, port + i), 2);
        }
    }
}

Topology build_dragonfly(const Request& request) {
    const Parameters it = parameters(request);
    const std::int64_t hosts = it.hosts();
    Builder builder(request, 3);
    builder.add_hosts(hosts);
    for (std::int64_t group = 0; group < it.g; ++group) {
        std::vector<std::int64_t> routers;
        for (std::int64_t i = 0; i < it.a; ++i) {
            routers.push_back(builder.add_switch(fmt::format("router-{}-{}", group, i), 1));
            const std::int64_t first_host = (group * it.a + i) * it.p;
            for (std::int64_t host = first_host; host < first_host + it.p; ++host)
                builder.add_cable(host, routers.back(), 0);
        }
        families::full_mesh.join(builder, routers, 1);
    }
    join_groups(builder, it, hosts);
    Topology topology = builder.take();
    for (std::int64_t host = 0; host < hosts; ++host)
        topology.groups.push_back(static_cast<std::uint32_t>(host / (it.a * it.p)));
    for (std::int64_t router = 0; router < it.a * it.g; ++router)
        topology.groups.push_back(static_cast<std::uint32_t>(router / it.a));
    return topology;
}

std::uint32_t routers_per_group(const TopologySpec& spec, const Topology& topology) {
    if (spec.routers != 0) return static_cast<std::uint32_t>(spec.routers);
    return 2 * topology.hosts / (topology.vertices() - topology.hosts);  // a dragonfly is balanced with a = 2p
}

/// Puts groups around a circle, each a circle of routers with their hosts outside.
GraphLayout groups_of_routers(const TopologySpec& spec, const Topology& topology) {
    GraphLayout layout;
    layout.at.resize(topology.vertices());
    layout.outward.assign(topology.vertices(), {0, -1});
    layout.spacing = 14;
    const std::size_t routers = topology.vertices() - topology.hosts;
    const std::size_t per_router = topology.hosts / routers;
    const std::size_t per_group = routers_per_group(spec, topology);
    const std::size_t groups = routers / per_group;

    const double of_routers =
        radius_around(per_group, std::max(16.0, layout.spacing * static_cast<double>(per_router) / 2 * 0.75));
    const double of_labels = 20 + 7 * std::ceil(std::log10(topology.hosts + 1));  // numbers, turned outwards
    const double of_hosts = of_routers + 28, of_groups = radius_around(groups, of_hosts + of_labels);
    for (std::size_t router = 0; router < routers; ++router) {
        const std::size_t group = router / per_group;
        const double group_turn = static_cast<double>(group) / static_cast<double>(groups);
        // The first routers of a group are on the outside.
        const double turn = group_turn + static_cast<double>(router % per_group) / static_cast<double>(per_group);
        const Point centre = on_circle(of_groups, group_turn);
        layout.at[topology.hosts + router] = centre + on_circle(of_routers, turn);
        for (std::size_t i = 0; i < per_router; ++i) {
            const double along = (static_cast<double>(i) + 0.5) / static_cast<double>(per_router) - 0.5;
            const double host_turn = turn + 0.8 * along / static_cast<double>(per_group);
            layout.at[router * per_router + i] = centre + on_circle(of_hosts, host_turn);
            layout.outward[router * per_router + i] = on_circle(1, host_turn);
        }
    }
    return layout;
}

CableKinds dragonfly_kinds(const TopologySpec& spec, const Topology& topology) {
    return [per_group = routers_per_group(spec, topology), hosts = topology.hosts](std::uint32_t from,
                                                                                   std::uint32_t to) -> CableKind {
        if (std::min(from, to) < hosts) return {0, "host and router"};
        if ((from - hosts) / per_group == (to - hosts) / per_group) return {1, "routers of a group"};
        return {2, "between groups"};
    };
}

constexpr ShapeParameter dragonfly_parameters[]{
    {"groups", &TopologySpec::groups, "Number of groups of routers in a dragonfly."},
    {"routers", &TopologySpec::routers, "Number of routers of a group in a dragonfly."},
    {"hosts_per_router", &TopologySpec::hosts_per_router, "Number of hosts of a router in a dragonfly."},
    {"global_links", &TopologySpec::global_links, "Number of cables of a router to other groups in a dragonfly."}};

}  // namespace

constinit const Family families::dragonfly{.shape = Shape::dragonfly,
                                           .name = "dragonfly",
                                           .parameters = dragonfly_parameters,
                                           .overlay = false,
                                           .build = build_dragonfly,
                                           .lay_out = groups_of_routers,
                                           .cable_kinds = dragonfly_kinds};

}  // namespace syncline::shapes

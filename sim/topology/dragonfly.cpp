#include <fmt/format.h>

#include <numeric>

#include "sim/topology/builder.hpp"

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

}  // namespace

Topology dragonfly(const Request& request) {
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
        join(builder, Shape::full_mesh, routers, 1);
    }
    join_groups(builder, it, hosts);
    return builder.take();
}

}  // namespace syncline::shapes

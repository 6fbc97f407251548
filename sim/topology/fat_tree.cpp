#include <fmt/format.h>

#include <array>

#include "sim/topology/builder.hpp"

namespace syncline::shapes {

namespace {

/// PGFT(h; m; w; p) in Zahavi's notation: children, parents, and cables to each parent of a vertex at each level.
struct Pgft {
    std::vector<std::int64_t> m, w, p;
    std::size_t height() const { return m.size(); }
};

Pgft k_ary(std::int64_t ports) {
    return {{ports / 2, ports / 2, ports}, {1, ports / 2, ports / 2}, {1, 1, 1}};
}

void require_length(const char* key, std::size_t length, std::size_t levels) {
    if (length != levels)
        throw TopologyError(key, fmt::format("'{}' has {} entries, 'down' has {}", key, length, levels),
                            "write one entry per level, from the hosts up");
}

std::int64_t count_hosts(const Pgft& tree) {
    std::int64_t hosts = 1;
    for (const std::int64_t children : tree.m) hosts = capped_product(hosts, children);
    return hosts;
}

Pgft pgft_parameters(const Request& request) {
    const TopologySpec& spec = request.spec;
    if (spec.ports != 0) {
        if (!spec.down.empty() || !spec.up.empty() || !spec.cables.empty())
            throw TopologyError("ports", "'ports' excludes 'down', 'up' and 'cables'");
        if (spec.ports % 2 != 0)
            throw TopologyError("ports", fmt::format("half of a switch's ports lead up, but {} is odd", spec.ports),
                                fmt::format("{} or {}", spec.ports - 1, spec.ports + 1));
        Pgft tree = k_ary(spec.ports);
        request.require_fit(count_hosts(tree), fmt::format("the fat tree of {}-port switches", spec.ports), "ports");
        return tree;
    }
    if (!spec.down.empty()) {
        Pgft tree{spec.down, spec.up, spec.cables};
        if (tree.p.empty()) tree.p.assign(tree.height(), 1);
        require_length("up", tree.w.size(), tree.height());
        require_length("cables", tree.p.size(), tree.height());
        request.require_fit(count_hosts(tree), "this fat tree", "down");
        return tree;
    }
    if (!spec.up.empty() || !spec.cables.empty())
        throw TopologyError(spec.up.empty() ? "cables" : "up", "a fat tree with 'up' or 'cables' needs 'down'");
    std::int64_t ports = 2;
    while (count_hosts(k_ary(ports)) < request.hosts()) ports += 2;
    return k_ary(ports);
}

std::string switch_name(std::size_t level, std::size_t height, std::int64_t index) {
    static constexpr std::array<const char*, 3> names{"leaf", "spine", "core"};
    if (height == 1) return fmt::format("switch-{}", index);
    if (height > names.size()) return fmt::format("switch-{}-{}", level, index);
    return fmt::format("{}-{}", names[level - 1], index);
}

}  // namespace

// A vertex at level l has h digits: the i-th digit has w_i values for i ≤ l and m_i values above. The vertex is
// connected to the vertices of the level below that agree in all digits except the l-th. In an index the first digit
// counts fastest, so the hosts of a leaf have consecutive numbers.
Topology fat_tree(const Request& request) {
    const Pgft tree = pgft_parameters(request);
    Builder builder(request, static_cast<std::int64_t>(tree.height()));
    const auto blamed = [&](const char* key) {
        return request.spec.ports != 0 ? "ports" : request.spec.down.empty() ? "hosts" : key;
    };
    builder.blame(blamed("down"));
    builder.add_hosts(count_hosts(tree));

    std::int64_t first_below = 0, below = count_hosts(tree);
    std::int64_t low_count = 1;  // number of values of the digits below the l-th together
    for (std::size_t level = 1; level <= tree.height(); ++level) {
        const std::int64_t m = tree.m[level - 1], w = tree.w[level - 1], p = tree.p[level - 1];
        builder.blame(blamed(p == 1 ? "up" : "cables"));
        const std::int64_t first = first_below + below, count = below / m * w;
        for (std::int64_t parent = 0; parent < count; ++parent) {
            builder.add_switch(switch_name(level, tree.height(), parent), static_cast<std::int64_t>(level));
            const std::int64_t low = parent % low_count, high = parent / (low_count * w);
            for (std::int64_t digit = 0; digit < m; ++digit) {
                const std::int64_t child = low + low_count * (digit + m * high);
                for (std::int64_t cable = 0; cable < p; ++cable)
                    builder.add_cable(first_below + child, first + parent, static_cast<std::int64_t>(level) - 1);
            }
        }
        first_below = first;
        below = count;
        low_count *= w;
    }
    Topology topology = builder.take();
    topology.parents.assign(tree.w.begin(), tree.w.end());
    return topology;
}

}  // namespace syncline::shapes

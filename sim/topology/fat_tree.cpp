#include <fmt/format.h>

#include <array>

#include "sim/topology/bisection.hpp"
#include "sim/topology/builder.hpp"

/// Fat tree: parallel-ports generalised fat tree PGFT(h; m; w; p), E. Zahavi, "D-Mod-K routing providing non-blocking
/// traffic for shift permutations on real life fat trees", 2010; m is `down`, w `up`, p `cables`. Without these, the
/// smallest k-ary fat tree that is large enough.
///
/// Bisection of a fat tree or rails: min N_l / 2 over l, where N_l is the weight of all cables from level l-1 to l. The
/// cut is no larger, because half of the level's subtrees can be separated from the rest. It is no smaller, because
/// flows that spread evenly over all upward paths load each cable of level l with at most n/N_l when each host of one
/// half sends 1 to its own host of the other half.
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

// A vertex at level l has h digits: the i-th digit has w_i values for i ≤ l and m_i values above. The vertex is
// connected to the vertices of the level below that agree in all digits except the l-th. In an index the first digit
// counts fastest, so the hosts of a leaf have consecutive numbers.
Topology build_fat_tree(const Request& request) {
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

/// Levels of vertices in which all vertices have the same number of neighbours below and above, and equally strong
/// links.
class Levels {
public:
    struct Level {
        std::size_t vertices = 0, below = 0, above = 0;  ///< neighbours, of each vertex
        double up = 0;                                   ///< weight of each vertex's links to the next level
    };

    Levels(const Topology& topology, const Network& network) {
        const auto level_of = [&](std::uint32_t vertex) { return topology.graph[vertex].level; };
        for (std::uint32_t vertex = 0; vertex < network.vertices(); ++vertex) {
            if (levels.size() <= level_of(vertex)) levels.resize(level_of(vertex) + std::size_t{1});
            Level here{1, 0, 0, 0};
            double one_link = 0;
            for (const Link& link : network.links(vertex)) {
                if (level_of(link.to) == level_of(vertex) + 1) {
                    ++here.above;
                    here.up += link.out;
                    regular = regular && (one_link == 0 || one_link == link.out);
                    one_link = link.out;
                } else {
                    ++here.below;
                    regular = regular && level_of(link.to) + 1 == level_of(vertex);
                }
            }
            Level& all = levels[level_of(vertex)];
            if (all.vertices > 0)
                regular = regular && all.below == here.below && all.above == here.above && all.up == here.up;
            here.vertices += all.vertices;
            all = here;
        }
    }

    std::vector<Level> levels;
    bool regular = true;
};

constexpr ShapeParameter fat_tree_parameters[]{
    {"down", &TopologySpec::down, "Children of a switch in a fat tree, by level from the hosts up."},
    {"up", &TopologySpec::up, "Parents of a vertex in a fat tree, by level from the hosts up."},
    {"cables", &TopologySpec::cables, "Parallel cables to each parent in a fat tree, by level from the hosts up."},
    {"ports", &TopologySpec::ports,
     "Number of ports of each switch; short form of a fat tree with three levels of such switches.", 2}};

}  // namespace

/// Returns nothing if the tree is not regular, or if the weakest level does not separate half of the subtrees.
std::optional<Bisection> bisect_fat_tree(const TopologySpec&, const Topology& topology, const Network& network) {
    const Levels tree(topology, network);
    if (!tree.regular) return std::nullopt;
    std::size_t below = 1;  // hosts
    double least = 0;
    bool parted = false;
    for (std::size_t level = 0; level + 1 < tree.levels.size(); ++level) {
        if (level > 0) below *= tree.levels[level].below;
        const std::size_t subtrees = network.hosts() / below;
        const double up = tree.levels[level].up * static_cast<double>(tree.levels[level].vertices);
        if (level > 0 && up > least) continue;
        if (level == 0 || up < least) parted = false;
        least = up;
        parted = parted || level == 0 || subtrees % 2 == 0;
    }
    if (below * tree.levels.back().below != network.hosts() || !parted) return std::nullopt;
    const double of_each_host = least / network.hosts();
    const std::uint32_t odd = network.hosts() % 2;
    return Bisection{(least - odd * of_each_host) / 2, true, "formula for fat trees: half of the weakest level"};
}

constinit const Family families::fat_tree{.shape = Shape::fat_tree,
                                          .name = "fat-tree",
                                          .parameters = fat_tree_parameters,
                                          .overlay = false,
                                          .build = build_fat_tree,
                                          .bisection = bisect_fat_tree};

}  // namespace syncline::shapes

#include "sim/topology/bisection.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "sim/topology/cut.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t most_enumerated = 16;
constexpr std::uint32_t most_in_tree = 16'384;

/// Returns the common weight of all links, if every link connects two hosts and all weigh the same.
std::optional<double> common_weight(const Network& network) {
    if (network.vertices() > network.hosts() || network.one_way() || network.links(0).empty()) return std::nullopt;
    const double weight = network.links(0).front().out;
    for (std::uint32_t host = 0; host < network.hosts(); ++host)
        for (const Link& link : network.links(host))
            if (link.out != weight) return std::nullopt;
    return weight;
}

/// Returns the bisection in links. Nothing if no formula is proved: a longest dimension that is odd, beside one of 2.
std::optional<double> torus_bisection(std::vector<std::uint32_t> factors) {
    double hosts = 1;
    for (std::uint32_t& factor : factors) {
        hosts *= factor;
        if (factor == 2) factor = 4;
    }
    std::sort(factors.begin(), factors.end(), std::greater<>());
    std::erase(factors, 1U);
    const double longest = factors.front();
    if (factors.front() % 2 == 0) return 2 * hosts / longest;
    double size = 1, sum = 0;  // from here on `size` is the number of hosts, if no factor is 2
    for (const std::uint32_t factor : factors) size *= factor;
    if (size != hosts) return std::nullopt;
    for (const std::uint32_t factor : factors) {
        size /= factor;
        sum += size;
        if (factor % 2 == 0) break;
    }
    return 2 * sum;
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

/// Returns nothing if the tree is not regular, or if the weakest level does not separate half of the subtrees.
std::optional<double> fat_tree_bisection(const Topology& topology, const Network& network) {
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
    return (least - odd * of_each_host) / 2;
}

}  // namespace

Bisection bisect(const TopologySpec& spec, const Topology& topology, const Network& network) {
    const std::uint32_t hosts = network.hosts();
    if (hosts == 1) return {0, true, "one host"};

    const auto factors = cyclic_factors(spec, topology);
    if (const auto weight = common_weight(network); weight && !factors.empty()) {
        const double half = hosts / 2;
        if (spec.shape == Shape::full_mesh) return {*weight * half * (hosts - half), true, "formula ⌊n/2⌋·⌈n/2⌉"};
        const bool torus = spec.shape == Shape::ring || spec.shape == Shape::torus || spec.shape == Shape::hypercube;
        if (const auto links = torus ? torus_bisection(factors) : std::nullopt)
            return {*weight * *links, true, "formula for tori (Arjona Aroca, Fernández Anta 2012)"};
    }
    if (spec.shape == Shape::fat_tree || spec.shape == Shape::rails) {
        if (const auto weight = fat_tree_bisection(topology, network))
            return {*weight, true, "formula for fat trees: half of the weakest level"};
    }
    if (is_tree(network) && hosts <= most_in_tree)
        return {bisect_tree(network), true, "minimum over all halves of a tree"};
    if (hosts <= most_enumerated) return {least_of_all_halves(network), true, "minimum over all halves"};
    return {least_of_some_halves(network), false, "upper bound: best cut found"};
}

}  // namespace syncline

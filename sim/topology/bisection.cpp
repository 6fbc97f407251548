#include "sim/topology/bisection.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/topology/cut.hpp"
#include "sim/topology/families.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t most_enumerated = 16;
constexpr std::uint32_t most_in_tree = 16'384;
constexpr double impossible = std::numeric_limits<double>::infinity();

/// For a subtree, by number of hosts: the minimum cut with this number of its hosts on the side of its root.
using Cuts = std::vector<double>;

Cuts joined(const Cuts& parent, const Cuts& child, double link) {
    Cuts result(parent.size() + child.size() - 1, impossible);
    for (std::size_t j = 0; j < child.size(); ++j) {
        const double best = std::min(child[j], link + child[child.size() - 1 - j]);
        for (std::size_t i = 0; i < parent.size(); ++i) result[i + j] = std::min(result[i + j], parent[i] + best);
    }
    return result;
}

/// Returns the exact bisection of a tree of full-duplex links, in time quadratic in the number of hosts.
double bisect_tree(const Network& network) {
    const RootedTree tree(network);
    std::vector<Cuts> cuts(network.vertices());
    for (std::uint32_t vertex = 0; vertex < network.vertices(); ++vertex)
        cuts[vertex] = vertex < network.hosts() ? Cuts{impossible, 0} : Cuts{0};
    for (std::size_t i = tree.order.size() - 1; i > 0; --i) {
        const std::uint32_t child = tree.order[i], parent = tree.parents[child];
        const auto links = network.links(child);
        const auto up = std::find_if(links.begin(), links.end(), [&](const Link& link) { return link.to == parent; });
        cuts[parent] = joined(cuts[parent], std::exchange(cuts[child], {}), up->out);
    }
    const std::uint32_t hosts = network.hosts();
    return std::min(cuts[0][hosts / 2], cuts[0][hosts - hosts / 2]);
}

}  // namespace

std::optional<double> common_weight(const Network& network) {
    if (network.vertices() > network.hosts() || network.one_way() || network.links(0).empty()) return std::nullopt;
    const double weight = network.links(0).front().out;
    for (std::uint32_t host = 0; host < network.hosts(); ++host)
        for (const Link& link : network.links(host))
            if (link.out != weight) return std::nullopt;
    return weight;
}

Bisection bisect(const TopologySpec& spec, const Topology& topology, const Network& network) {
    const std::uint32_t hosts = network.hosts();
    if (hosts == 1) return {0, true, "one host"};

    if (const auto formula = shapes::family_of(spec.shape).bisection)
        if (const auto cut = formula(spec, topology, network)) return *cut;
    if (is_tree(network) && hosts <= most_in_tree)
        return {bisect_tree(network), true, "minimum over all halves of a tree"};
    if (hosts <= most_enumerated) return {least_of_all_halves(network), true, "minimum over all halves"};
    return {least_of_some_halves(network), false, "upper bound: best cut found"};
}

}  // namespace syncline

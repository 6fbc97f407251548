#include <algorithm>
#include <limits>
#include <utility>

#include "sim/topology/bisection.hpp"
#include "sim/topology/rooted_tree.hpp"

namespace syncline {

namespace {

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

}  // namespace

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

}  // namespace syncline

#include "sim/topology/rooted_tree.hpp"

namespace syncline {

bool is_tree(const Network& network) {
    std::size_t ends = 0;
    for (std::uint32_t vertex = 0; vertex < network.vertices(); ++vertex) ends += network.links(vertex).size();
    return ends == 2 * (std::size_t{network.vertices()} - 1) && !network.one_way();
}

RootedTree::RootedTree(const Network& network) : parents(network.vertices(), 0), order{0} {
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const Link& link : network.links(order[i])) {
            if (link.to == parents[order[i]]) continue;
            parents[link.to] = order[i];
            order.push_back(link.to);
        }
    }
}

}  // namespace syncline

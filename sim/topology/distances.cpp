#include "sim/topology/measures.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace syncline {

namespace {

constexpr std::uint32_t nowhere = ~std::uint32_t{0};

[[noreturn]] void not_connected() {
    throw std::logic_error("cannot measure distances: the topology is not connected");
}

class Search {
public:
    explicit Search(const Network& network) : network_(network), hops_(network.vertices(), nowhere) {}

    /// Ends as soon as it has found all hosts: in dense graphs that is long before it has visited all links.
    void run(std::uint32_t start) {
        std::fill(hops_.begin(), hops_.end(), nowhere);
        queue_.clear();
        found_ = sum = farthest = 0;
        reach(start, 0);
        for (std::size_t next = 0; next < queue_.size() && found_ < network_.hosts(); ++next) {
            const std::uint32_t vertex = queue_[next];
            for (const Link& link : network_.links(vertex))
                if (link.out > 0 && hops_[link.to] == nowhere) reach(link.to, hops_[vertex] + 1);
        }
        if (found_ < network_.hosts()) not_connected();
    }

    std::uint64_t sum = 0, farthest = 0;  ///< over all hosts

private:
    void reach(std::uint32_t vertex, std::uint32_t hops) {
        hops_[vertex] = hops;
        queue_.push_back(vertex);
        if (vertex >= network_.hosts()) return;
        ++found_;
        sum += hops;
        farthest = hops;  // breadth-first: no host before was farther
    }

    const Network& network_;
    std::vector<std::uint32_t> hops_, queue_;
    std::uint64_t found_ = 0;
};

constexpr std::uint64_t most_search_steps = 250'000'000;

/// Returns the distances in a tree, in linear time: a link is crossed by the pairs of hosts on different sides of it.
Distances measure_tree(const Network& network) {
    const RootedTree tree(network);
    if (tree.order.size() < network.vertices()) not_connected();
    const std::uint64_t hosts = network.hosts();
    std::vector<std::uint64_t> below(network.vertices(), 0);
    std::vector<std::int64_t> deepest(network.vertices(), -1);  ///< hops to the farthest host below; -1: none
    for (std::uint32_t host = 0; host < hosts; ++host) {
        below[host] = 1;
        deepest[host] = 0;
    }
    std::uint64_t crossed = 0;
    std::int64_t diameter = 0;
    for (std::size_t i = tree.order.size() - 1; i > 0; --i) {
        const std::uint32_t child = tree.order[i], parent = tree.parents[child];
        crossed += below[child] * (hosts - below[child]);
        below[parent] += below[child];
        if (deepest[child] < 0) continue;
        if (deepest[parent] >= 0) diameter = std::max(diameter, deepest[parent] + deepest[child] + 1);
        deepest[parent] = std::max(deepest[parent], deepest[child] + 1);
    }
    const double pairs = static_cast<double>(hosts) * (static_cast<double>(hosts) - 1) / 2;
    return {static_cast<std::uint32_t>(diameter), static_cast<double>(crossed) / pairs, true};
}

}  // namespace

Distances measure_distances(const Network& network, bool hosts_alike) {
    const std::uint32_t hosts = network.hosts();
    if (hosts < 2) return {};
    if (is_tree(network)) return measure_tree(network);
    // A host whose only neighbour reaches it and is reached by it sees all others one hop farther away than that
    // neighbour does, so a switch with forty hosts needs one search.
    std::vector<std::uint32_t> lodgers(network.vertices(), 0), lodged_at(hosts, nowhere);
    for (std::uint32_t host = 0; host < hosts; ++host) {
        const auto links = network.links(host);
        if (links.size() != 1 || links[0].to < hosts) continue;
        lodged_at[host] = links[0].to;
        ++lodgers[links[0].to];
    }
    std::vector<std::uint32_t> starts;
    std::uint64_t steps = 0;  // of one search
    for (std::uint32_t start = 0; start < network.vertices(); ++start) {
        steps += 1 + network.links(start).size();
        if ((start < hosts && lodged_at[start] == nowhere) || lodgers[start] > 0) starts.push_back(start);
    }
    if (hosts_alike) starts.resize(1);
    const std::size_t every = 1 + starts.size() * steps / most_search_steps;
    Search search(network);
    std::uint64_t sum = 0, farthest = 0, searched = 0;
    for (std::size_t i = 0; i < starts.size(); i += every) {
        const std::uint32_t start = starts[i];
        const bool alone = start < hosts && lodged_at[start] == nowhere;
        search.run(start);
        const std::uint64_t seen_by = alone ? 1 : lodgers[start], detour = alone ? 0 : 1;
        // The distance from a lodger to itself is 0, not one hop to its switch and one back.
        sum += seen_by * (search.sum + detour * hosts - 2 * detour);
        farthest = std::max(farthest, search.farthest + detour);
        searched += seen_by;
    }
    const double pairs = static_cast<double>(searched) * (hosts - 1.0);
    return {static_cast<std::uint32_t>(farthest), static_cast<double>(sum) / pairs, every == 1};
}

}  // namespace syncline

#include "sim/lowering/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "sim/collective/channels.hpp"
#include "sim/collective/nvls.hpp"
#include "sim/plan/placement.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

bool in_one_node(const std::vector<Place>& places) {
    return std::all_of(places.begin(), places.end(), [&](const Place& place) { return place.node == places[0].node; });
}

bool switch_of_node_adds(const Cluster& cluster) {
    return cluster.node.links == NodeLinks::crossbar && cluster.node.devices > 1 && cluster.node.switch_reduces;
}

/// Returns the ranks of each node if all have as many, two or more; otherwise nothing.
std::vector<std::vector<std::uint32_t>> ranks_by_node(const std::vector<Place>& places) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> on_node;
    for (std::uint32_t rank = 0; rank < places.size(); ++rank) on_node[places[rank].node].push_back(rank);
    std::vector<std::vector<std::uint32_t>> all;
    for (auto& [node, ranks] : on_node) all.push_back(std::move(ranks));
    const std::size_t each = all.front().size();
    if (each == 1 || std::ranges::any_of(all, [&](const auto& ranks) { return ranks.size() != each; })) return {};
    return all;
}

/// Shortest paths from one switch over switches alone, to the hosts that are used.
struct Reach {
    std::vector<std::uint32_t> above;  ///< by vertex: the next one towards the root; `nowhere`: not reached
    std::uint32_t longest = 0;         ///< hops to the farthest host
    std::size_t cables = 0;            ///< of the paths together
};

std::optional<Reach> reach_from(const Topology& fabric, std::uint32_t root, const std::set<std::uint32_t>& hosts) {
    Reach reach{std::vector<std::uint32_t>(fabric.vertices(), nowhere)};
    std::vector<std::uint32_t> hops(fabric.vertices(), 0), queue{root};
    reach.above[root] = root;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const std::uint32_t at = queue[next];
        if (at < fabric.hosts) continue;
        for (const auto& arc : boost::make_iterator_range(boost::out_edges(at, fabric.graph))) {
            const auto to = static_cast<std::uint32_t>(boost::target(arc, fabric.graph));
            if (reach.above[to] != nowhere) continue;
            reach.above[to] = at;
            hops[to] = hops[at] + 1;
            queue.push_back(to);
        }
    }
    std::set<std::uint32_t> used;
    for (const std::uint32_t host : hosts) {
        if (reach.above[host] == nowhere) return std::nullopt;
        reach.longest = std::max(reach.longest, hops[host]);
        for (std::uint32_t at = host; at != root; at = reach.above[at]) used.insert(at);
    }
    reach.cables = used.size();
    return reach;
}

/// Returns the root and its reach.
std::optional<std::pair<std::uint32_t, Reach>> best_root(const Topology& fabric, const std::set<std::uint32_t>& hosts) {
    std::optional<std::pair<std::uint32_t, Reach>> best;
    for (std::uint32_t root = fabric.hosts; root < fabric.vertices(); ++root) {
        auto reach = reach_from(fabric, root, hosts);
        if (!reach) continue;
        if (best && std::pair(best->second.longest, best->second.cables) <= std::pair(reach->longest, reach->cables))
            continue;
        best = {root, std::move(*reach)};
    }
    return best;
}

std::set<std::uint32_t> ports(const Wiring& wiring, const std::vector<Place>& places) {
    std::set<std::uint32_t> hosts;
    for (const Place& place : places) hosts.insert(wiring.fabric_host(place));
    return hosts;
}

}  // namespace

std::optional<ReductionObstacle> reduction_obstacle(const Cluster& cluster, const std::vector<Place>& places) {
    if (cluster.native)
        return {{"a platform in SimGrid's format has no switches that add up", "choose another algorithm"}};
    if (in_one_node(places) && switch_of_node_adds(cluster)) return {};
    if (!cluster.fabric.reduces) {
        if (switch_of_node_adds(cluster)) {
            if (!ranks_by_node(places).empty()) return {};
            return {{"the switches inside nodes need as many ranks, two or more, on every node",
                     "choose another number of ranks or algorithm"}};
        }
        return {{"no switch between these ranks adds up data",
                 "`platform.fabric.reduces: true`, or with `pattern: switch` `platform.per_node.links.reduces: true`, "
                 "says that switches add up"}};
    }
    const Wiring wiring(cluster, first_free_node(places));
    if (best_root(wiring.fabric(), ports(wiring, places))) return {};
    return {{"no switch of the fabric reaches all ranks",
             "choose a fabric with switches, such as `topology: star`, or another algorithm"}};
}

std::shared_ptr<const CollectiveAlgorithm> in_network(const Cluster& cluster, const std::vector<Place>& places,
                                                      double segment_bytes, bool by_ranks_alone) {
    if (reduction_obstacle(cluster, places)) return nullptr;
    const bool fabric = cluster.fabric.reduces && !in_one_node(places);
    if (fabric && !by_ranks_alone) return std::make_shared<InNetwork>(switch_tree(cluster, places), segment_bytes);
    const std::vector<std::vector<std::uint32_t>> nodes = ranks_by_node(places);
    if (!switch_of_node_adds(cluster) || nodes.empty()) return nullptr;
    // The order of ranks may mix nodes.
    std::vector<std::uint32_t> order;
    for (const std::vector<std::uint32_t>& ranks : nodes) order.insert(order.end(), ranks.begin(), ranks.end());
    const auto algorithm =
        nvls(std::vector<std::uint32_t>(nodes.size(), static_cast<std::uint32_t>(nodes.front().size())));
    return std::ranges::is_sorted(order) ? algorithm : in_channels(algorithm, {order});
}

SwitchTree switch_tree(const Cluster& cluster, const std::vector<Place>& places) {
    SwitchTree tree;
    tree.above_rank.assign(places.size(), 0);
    tree.above_switch = {0};
    if (const auto obstacle = reduction_obstacle(cluster, places))
        throw AlgorithmError("algorithm", obstacle->message, obstacle->hint);
    tree.node_adds = switch_of_node_adds(cluster);
    tree.nodes = ranks_by_node(places);
    const Wiring wiring(cluster, first_free_node(places));
    const auto [root, reach] = *best_root(wiring.fabric(), ports(wiring, places));
    tree.vertices = {root};
    std::vector<std::uint32_t> number(wiring.fabric().vertices(), nowhere);
    number[root] = 0;
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        // From the root down, so that a switch has a greater number than the one above it.
        std::vector<std::uint32_t> path;
        std::uint32_t at = reach.above[wiring.fabric_host(places[rank])];
        const std::uint32_t first = at;
        for (; number[at] == nowhere; at = reach.above[at]) path.push_back(at);
        for (auto vertex = path.rbegin(); vertex != path.rend(); ++vertex) {
            number[*vertex] = tree.switches();
            tree.above_switch.push_back(number[reach.above[*vertex]]);
            tree.vertices.push_back(*vertex);
        }
        tree.above_rank[rank] = number[first];
    }
    return tree;
}

Place place_of_switch(const SwitchTree& tree, std::uint32_t number, std::uint32_t node) {
    return Place::fabric_switch(node, tree.vertices[number]);
}

}  // namespace syncline

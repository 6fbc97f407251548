#include "sim/plan/placement.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace syncline {

namespace {

/// Fisher and Yates' shuffle, written out because std::shuffle differs between libraries.
void shuffle(std::vector<std::int64_t>& values, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::size_t left = values.size(); left > 1; --left) {
        // The remainder favours small numbers by less than left/2^64.
        std::swap(values[left - 1], values[random() % left]);
    }
}

}  // namespace

std::int64_t nodes_needed(const Cluster& cluster, const RankPlacement& placement, std::int64_t ranks) {
    const std::int64_t each = cluster.node.devices;
    std::int64_t nodes = (ranks + each - 1) / each;
    for (const std::int64_t device : placement.devices) nodes = std::max(nodes, device / each + 1);
    return nodes;
}

void give_nodes(Cluster& cluster, const RankPlacement& placement, std::int64_t ranks, std::int64_t server_nodes) {
    if (cluster.nodes > 0) return;
    cluster.nodes = nodes_needed(cluster, placement, ranks);
    cluster.server_nodes = server_nodes;
}

std::vector<Place> place_ranks(const Cluster& cluster, const RankPlacement& placement, std::uint32_t ranks) {
    std::vector<std::int64_t> devices(ranks);
    std::iota(devices.begin(), devices.end(), 0);
    switch (placement.order) {
        case RankPlacement::Order::packed:
            break;
        case RankPlacement::Order::round_robin:
            for (std::int64_t& device : devices)
                device = device % cluster.nodes * cluster.node.devices + device / cluster.nodes;
            break;
        case RankPlacement::Order::random:
            shuffle(devices, placement.seed);
            break;
        case RankPlacement::Order::listed:
            std::copy_n(placement.devices.begin(), ranks, devices.begin());
            break;
    }
    std::vector<Place> places;
    for (const std::int64_t device : devices) {
        places.push_back({static_cast<std::uint32_t>(device / cluster.node.devices),
                          static_cast<std::uint32_t>(device % cluster.node.devices)});
    }
    return places;
}

std::uint32_t first_free_node(const std::vector<Place>& places) {
    std::uint32_t node = 0;
    for (const Place& place : places) node = std::max(node, place.node + 1);
    return node;
}

}  // namespace syncline

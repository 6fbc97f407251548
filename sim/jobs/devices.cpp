#include "sim/jobs/devices.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

/// Returns the first of the items with the fewest that suffice for `wanted`, or else the first with the most.
template <class Item, class Count>
Item best_fit(const std::vector<Item>& items, std::size_t wanted, Count count) {
    const auto better = [&](Item a, Item b) {
        const std::size_t of_a = count(a), of_b = count(b);
        const bool a_suffices = of_a >= wanted, b_suffices = of_b >= wanted;
        if (a_suffices != b_suffices) return a_suffices;
        return a_suffices ? of_a < of_b : of_a > of_b;
    };
    return *std::min_element(items.begin(), items.end(), better);
}

/// Returns the rack of each node, numbered in the order of the nodes.
std::vector<std::uint32_t> racks_of(const Cluster& cluster) {
    const auto nodes = static_cast<std::uint32_t>(cluster.nodes);
    std::vector<std::uint32_t> racks(nodes, 0);
    if (cluster.native) return racks;
    const Wiring wiring(cluster, nodes);
    const Topology& fabric = wiring.fabric();
    std::map<std::uint32_t, std::uint32_t> number_of;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        std::uint32_t first = fabric.hosts;  // all nodes without a switch are together
        const auto [begin, end] = boost::out_edges(wiring.fabric_host({node, 0}), fabric.graph);
        for (auto edge = begin; edge != end; ++edge) {
            const auto next = static_cast<std::uint32_t>(boost::target(*edge, fabric.graph));
            if (next >= fabric.hosts) first = first == fabric.hosts ? next : std::min(first, next);
        }
        racks[node] = number_of.try_emplace(first, static_cast<std::uint32_t>(number_of.size())).first->second;
    }
    return racks;
}

}  // namespace

Devices::Devices(const Cluster& cluster)
    : each_(cluster.node.devices),
      taken_(static_cast<std::size_t>(cluster.nodes * cluster.node.devices), false),
      free_in_node_(static_cast<std::size_t>(cluster.nodes), static_cast<std::size_t>(cluster.node.devices)),
      rack_of_node_(racks_of(cluster)) {
    for (std::uint32_t node = 0; node < rack_of_node_.size(); ++node) {
        if (rack_of_node_[node] >= racks_.size()) racks_.resize(rack_of_node_[node] + 1);
        racks_[rack_of_node_[node]].push_back(node);
    }
    for (const std::vector<std::uint32_t>& nodes : racks_)
        free_in_rack_.push_back(nodes.size() * static_cast<std::size_t>(each_));
    free_ = taken_.size();
}

bool Devices::in_use(std::uint32_t rack) const {
    return free_in_rack(rack) < racks_[rack].size() * static_cast<std::size_t>(each_);
}

std::int64_t Devices::largest_rack() const {
    std::size_t nodes = 0;
    for (const auto& rack : racks_) nodes = std::max(nodes, rack.size());
    return static_cast<std::int64_t>(nodes) * each_;
}

void Devices::pack(std::vector<std::uint32_t> racks, std::size_t ranks, Numbers& chosen) const {
    std::erase_if(racks, [this](std::uint32_t rack) { return free_in_rack(rack) == 0; });
    while (chosen.size() < ranks && !racks.empty()) {
        const std::uint32_t rack =
            best_fit(racks, ranks - chosen.size(), [this](auto one) { return free_in_rack(one); });
        std::erase(racks, rack);
        std::vector<std::uint32_t> nodes = racks_[rack];
        std::erase_if(nodes, [this](std::uint32_t node) { return free_in_node(node) == 0; });
        while (chosen.size() < ranks && !nodes.empty()) {
            const std::uint32_t node =
                best_fit(nodes, ranks - chosen.size(), [this](auto one) { return free_in_node(one); });
            std::erase(nodes, node);
            for (std::int64_t device = node * each_; device < (node + 1) * each_ && chosen.size() < ranks; ++device)
                if (!taken_[static_cast<std::size_t>(device)]) chosen.push_back(device);
        }
    }
}

Devices::Numbers Devices::spread(std::size_t ranks) const {
    Numbers chosen;
    std::vector<std::size_t> free = free_in_node_, taken(free.size(), 0);
    while (chosen.size() < ranks) {
        const std::size_t before = chosen.size();
        for (const std::vector<std::uint32_t>& rack : racks_) {
            if (chosen.size() == ranks) break;
            // The node of which the job has fewest devices, and which has most to give.
            const auto node = std::ranges::min_element(rack, [&](std::uint32_t a, std::uint32_t b) {
                if ((free[a] == 0) != (free[b] == 0)) return free[b] == 0;
                return std::pair(taken[a], free[b]) < std::pair(taken[b], free[a]);
            });
            if (free[*node] == 0) continue;
            std::int64_t device = *node * each_;
            for (std::size_t skip = taken[*node];; ++device)
                if (!taken_[static_cast<std::size_t>(device)] && skip-- == 0) break;
            chosen.push_back(device);
            --free[*node];
            ++taken[*node];
        }
        if (chosen.size() == before) break;
    }
    return chosen;
}

std::optional<std::vector<std::int64_t>> Devices::choose(JobPlacement placement, std::size_t ranks,
                                                         const std::vector<std::int64_t>& listed,
                                                         std::uint64_t draw) const {
    if (ranks > free_) return std::nullopt;
    Numbers chosen;
    std::vector<std::uint32_t> racks, used, unused;
    for (std::uint32_t rack = 0; rack < racks_.size(); ++rack) {
        racks.push_back(rack);
        (in_use(rack) ? used : unused).push_back(rack);
    }
    switch (placement) {
        case JobPlacement::packed:
            pack(racks, ranks, chosen);
            break;
        case JobPlacement::rack:
            std::erase_if(racks, [&](std::uint32_t rack) { return free_in_rack(rack) < ranks; });
            pack(racks, ranks, chosen);
            break;
        case JobPlacement::avoiding:
            pack(unused, ranks, chosen);
            pack(used, ranks, chosen);
            break;
        case JobPlacement::sharing:
            pack(used, ranks, chosen);
            pack(unused, ranks, chosen);
            break;
        case JobPlacement::spread:
            chosen = spread(ranks);
            break;
        case JobPlacement::random: {
            for (std::size_t device = 0; device < taken_.size(); ++device)
                if (!taken_[device]) chosen.push_back(static_cast<std::int64_t>(device));
            // Fisher and Yates' shuffle, of the places that are used.
            std::mt19937_64 random(draw);
            for (std::size_t i = 0; i < std::min(ranks, chosen.size()); ++i)
                std::swap(chosen[i], chosen[i + random() % (chosen.size() - i)]);
            if (chosen.size() > ranks) chosen.resize(ranks);
            break;
        }
        case JobPlacement::listed:
            for (const std::int64_t device : listed)
                if (!taken_[static_cast<std::size_t>(device)]) chosen.push_back(device);
            break;
    }
    if (chosen.size() < ranks) return std::nullopt;
    // Ranks are numbered node by node, except where their order is said, or drawn.
    if (placement != JobPlacement::random && placement != JobPlacement::listed) std::ranges::sort(chosen);
    return chosen;
}

void Devices::take(const std::vector<std::int64_t>& devices) {
    for (const std::int64_t device : devices) {
        taken_[static_cast<std::size_t>(device)] = true;
        --free_in_node_[node_of(device)];
        --free_in_rack_[rack_of(device)];
        --free_;
    }
}

void Devices::give_back(const std::vector<std::int64_t>& devices) {
    for (const std::int64_t device : devices) {
        taken_[static_cast<std::size_t>(device)] = false;
        ++free_in_node_[node_of(device)];
        ++free_in_rack_[rack_of(device)];
        ++free_;
    }
}

}  // namespace syncline

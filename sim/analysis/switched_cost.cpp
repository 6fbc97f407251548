#include "sim/analysis/carried_cost.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/lowering/switches.hpp"
#include "sim/plan/placement.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

struct SwitchHop {
    double alpha_s = 0, beta_s_per_B = 0;
    auto operator<=>(const SwitchHop&) const = default;
};

/// Cables of the tree, each of which may be used by one child only.
class TreeHops {
public:
    TreeHops(const Cluster& cluster, const std::vector<Place>& places, const SwitchTree& tree)
        : wiring_(cluster, first_free_node(places)), tree_(tree), node_(places.front().node) {}

    bool has_many_ways() const { return wiring_.adapts() || wiring_.sprays(); }

    /// Returns the hop between a place and the switch above it; nothing if its directions differ, or share a link with
    /// others.
    std::optional<SwitchHop> between(const Place& below, std::uint32_t above) {
        const Place top = place_of_switch(tree_, above, node_);
        const std::optional<SwitchHop> up = one_way(below, top), down = one_way(top, below);
        return up && down && *up == *down ? up : std::nullopt;
    }

    Place switch_place(std::uint32_t number) const { return place_of_switch(tree_, number, node_); }

private:
    std::optional<SwitchHop> one_way(const Place& from, const Place& to) {
        std::vector<Wiring::Link> links;
        wiring_.route(from, to, links);
        double narrowest_Bps = unlimited;
        for (const Wiring::Link link : links) {
            if (!taken_.insert(link).second) return std::nullopt;
            narrowest_Bps = std::min(narrowest_Bps, wiring_.wire(link).bandwidth_Bps);
        }
        return SwitchHop{wiring_.latency_s(links), 1 / narrowest_Bps};
    }

    Wiring wiring_;
    const SwitchTree& tree_;
    const std::uint32_t node_;
    std::set<Wiring::Link> taken_;
};

/// Returns the hops from every rank to the topmost switch, nothing if they are not the same for all.
std::optional<std::vector<SwitchHop>> common_hops(const Cluster& cluster, const std::vector<Place>& places,
                                                  const SwitchTree& tree) {
    TreeHops hops(cluster, places, tree);
    if (hops.has_many_ways()) return std::nullopt;
    std::vector<std::vector<SwitchHop>> from_switch(tree.switches());
    for (std::uint32_t number = 1; number < tree.switches(); ++number) {
        const auto hop = hops.between(hops.switch_place(number), tree.above_switch[number]);
        if (!hop) return std::nullopt;
        from_switch[number] = from_switch[tree.above_switch[number]];
        from_switch[number].push_back(*hop);
    }
    std::optional<std::vector<SwitchHop>> common;
    for (std::uint32_t rank = 0; rank < tree.ranks(); ++rank) {
        const auto hop = hops.between(places[rank], tree.above_rank[rank]);
        if (!hop) return std::nullopt;
        std::vector<SwitchHop> own = from_switch[tree.above_rank[rank]];
        own.push_back(*hop);
        if (common && *common != own) return std::nullopt;
        common = std::move(own);
    }
    return common;
}

}  // namespace

std::optional<double> switched_cost(const Cluster& cluster, const std::vector<Place>& places,
                                    const InNetwork& algorithm, std::uint64_t bytes) {
    const auto ranks = static_cast<std::uint32_t>(places.size());
    if (ranks == 1) return 0;
    const std::uint32_t segments = algorithm.program(0, ranks, bytes, 0).partition.blocks;
    if (algorithm.lanes() > 1 || cluster.network != NetworkModel::exact || cluster.native || !cluster.faults.empty() ||
        !wires_only(cluster.transport) || bytes % segments != 0)
        return std::nullopt;
    const auto hops = common_hops(cluster, places, algorithm.tree());
    if (!hops) return std::nullopt;
    const double segment = static_cast<double>(bytes / segments), more = segments - 1.0;
    double sum_s = 0, slowest_s = 0;
    for (const SwitchHop& hop : *hops) {
        const double transfer_s = segment * hop.beta_s_per_B;
        sum_s += 2 * (hop.alpha_s + transfer_s);
        slowest_s = std::max(slowest_s, transfer_s);
    }
    if (latency_travels(cluster)) return sum_s + more * slowest_s;
    if (std::any_of(hops->begin(), hops->end(), [&](const SwitchHop& hop) { return hop != hops->front(); }))
        return std::nullopt;
    return sum_s + more * (hops->front().alpha_s + slowest_s);
}

}  // namespace syncline

#include "sim/training/chooser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/platform/wiring.hpp"
#include "sim/training/placement.hpp"

namespace syncline {

Terrain terrain_of(const Cluster& cluster, const std::vector<Place>& places) {
    Terrain terrain;
    terrain.ranks = static_cast<std::uint32_t>(places.size());
    std::set<std::uint32_t> nodes;
    for (const Place& place : places) nodes.insert(place.node);
    terrain.nodes = static_cast<std::uint32_t>(nodes.size());
    if (cluster.native || places.size() < 2) return terrain;
    Wiring wiring(cluster, first_free_node(places));
    const auto narrowest_Bps = [&](bool inside) {
        double least_Bps = unlimited;
        // All nodes are alike: the first pair of ranks that there is stands for all.
        for (std::size_t a = 0; a < places.size(); ++a) {
            const auto b = std::find_if(places.begin(), places.end(), [&](const Place& place) {
                return place != places[a] && (place.node == places[a].node) == inside;
            });
            if (b == places.end()) continue;
            std::vector<Wiring::Link> links;
            wiring.route(places[a], *b, links);
            for (const Wiring::Link link : links) least_Bps = std::min(least_Bps, wiring.wire(link).bandwidth_Bps);
            break;
        }
        return least_Bps;
    };
    if (terrain.nodes < terrain.ranks) terrain.inside_Bps = narrowest_Bps(true);
    if (terrain.nodes > 1) terrain.between_Bps = narrowest_Bps(false);
    return terrain;
}

Chooser::Chooser(const Cluster& cluster, const std::vector<Place>& places, AlgorithmSpec named,
                 const std::optional<Selection>& selection)
    : named_(std::move(named)),
      selection_(selection),
      terrain_(selection ? terrain_of(cluster, places) : Terrain{.ranks = static_cast<std::uint32_t>(places.size())}) {}

Choice Chooser::decide(std::uint64_t bytes) const {
    if (selection_) return syncline::choose(*selection_, named_.operation, bytes, terrain_);
    Choice choice;
    choice.algorithm = named_;
    choice.why = fmt::format("`algorithm: {}`", named_.name);
    return choice;
}

Chosen Chooser::choose(std::uint64_t bytes) {
    const Choice choice = decide(bytes);
    auto& made = made_[{choice.row, choice.candidate}];
    if (!made) made = make_algorithm(choice.algorithm, terrain_.ranks);
    return {choice.algorithm, choice.protocol, choice.why, made};
}

std::string algorithm_label(const std::optional<Selection>& selection, const std::vector<Chosen>& chosen) {
    std::vector<std::string> names;
    for (const Chosen& one : chosen) {
        const std::string name = candidate_name(one.spec, one.protocol);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    const std::string used = fmt::format("{}", fmt::join(names, ", "));
    if (!selection) return used;
    return names.empty() ? selection->name : fmt::format("{}: {}", selection->name, used);
}

}  // namespace syncline

#include "sim/lowering/chooser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/lowering/switches.hpp"
#include "sim/plan/placement.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline {

Terrain terrain_of(const Cluster& cluster, const std::vector<Place>& places,
                   const std::optional<std::int64_t>& channels) {
    Terrain terrain;
    terrain.ranks = static_cast<std::uint32_t>(places.size());
    std::set<std::uint32_t> nodes;
    for (const Place& place : places) nodes.insert(place.node);
    terrain.nodes = static_cast<std::uint32_t>(nodes.size());
    if (cluster.native || places.size() < 2) return terrain;
    Wiring wiring(cluster, first_free_node(places));
    std::vector<Wiring::Link> links;
    const auto narrow = [&](const Place& from, const Place& to) {
        double& least_Bps = from.node == to.node ? terrain.inside_Bps : terrain.between_Bps;
        links.clear();
        wiring.route(from, to, links);
        for (const Wiring::Link link : links) least_Bps = std::min(least_Bps, wiring.wire(link).bandwidth_Bps);
        const MessageTerms& terms = from.node == to.node ? cluster.transport.inside : cluster.transport.between;
        least_Bps = std::min(least_Bps, terms.limit_Bps(1e15));
    };
    const ChannelOrders orders(cluster, places, requested_channels(cluster, channels));
    const std::uint32_t most = orders.count(~std::uint64_t{0});
    if (most > 1) {
        for (const std::vector<std::uint32_t>& order : orders.orders(most))
            for (std::size_t i = 0; i < order.size(); ++i)
                narrow(places[order[i]], places[order[(i + 1) % order.size()]]);
    } else {
        for (std::size_t rank = 0; rank < places.size(); ++rank)
            narrow(places[rank], places[(rank + 1) % places.size()]);
        // Covers ranks that share a node without being neighbours: nodes are alike, so one pair represents all.
        const Place& first = places.front();
        const auto beside = std::find_if(places.begin() + 1, places.end(),
                                         [&](const Place& place) { return place.node == first.node; });
        if (beside != places.end()) narrow(first, *beside);
    }
    terrain.between_Bps *= std::min(most, orders.ports());
    terrain.inside_Bps *= std::min(most, orders.rings());
    return terrain;
}

Chooser::Chooser(const Cluster& cluster, const std::vector<Place>& places, AlgorithmSpec named,
                 const std::optional<Selection>& selection, const std::optional<std::int64_t>& channels)
    : named_(std::move(named)),
      selection_(selection),
      terrain_(selection ? terrain_of(cluster, places, channels)
                         : Terrain{.ranks = static_cast<std::uint32_t>(places.size())}),
      orders_(cluster, places, requested_channels(cluster, channels)) {
    if (!selection && named_.name == in_network_allreduce && places.size() > 1)
        switches_ = switch_tree(cluster, places);
}

Choice Chooser::decide(std::uint64_t bytes) const {
    if (selection_) return syncline::choose(*selection_, named_.operation, bytes, terrain_);
    Choice choice;
    choice.algorithm = named_;
    choice.why = fmt::format("`algorithm: {}`", named_.name);
    return choice;
}

Chosen Chooser::choose(std::uint64_t bytes) {
    const Choice choice = decide(bytes);
    const std::uint32_t channels = orders_.count(choice.algorithm, bytes);
    const std::string why = channels > 1 ? fmt::format("{}; in {} channels", choice.why, channels) : choice.why;
    const std::string name = fmt::format("{}.{}", choice.row, choice.candidate);
    if (switches_) {
        if (!in_network_) in_network_ = std::make_shared<InNetwork>(*switches_, choice.algorithm.segment_bytes);
        return {choice.algorithm, choice.protocol, why, in_network_};
    }
    return {choice.algorithm, choice.protocol, why, orders_.make(choice.algorithm, bytes, name)};
}

std::string algorithm_label(const std::optional<Selection>& selection, const std::vector<Chosen>& chosen) {
    std::vector<std::string> names;
    for (const Chosen& one : chosen) {
        const std::string name = candidate_name(one.spec, one.protocol);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    std::string used = fmt::format("{}", fmt::join(names, ", "));
    if (!selection) return used;
    return names.empty() ? selection->name : fmt::format("{}: {}", selection->name, used);
}

}  // namespace syncline

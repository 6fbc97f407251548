#include "sim/lowering/chooser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "sim/lowering/switches.hpp"
#include "sim/plan/placement.hpp"
#include "sim/platform/wiring.hpp"

namespace syncline {

namespace {

constexpr auto no_row = std::numeric_limits<std::size_t>::max();

}  // namespace

Terrains::Terrains(const Cluster& cluster, std::uint32_t nodes) : cluster_(cluster), nodes_(nodes) {}
Terrains::~Terrains() = default;

Terrain terrain_of(const Cluster& cluster, const std::vector<Place>& places,
                   const std::optional<std::int64_t>& channels) {
    return Terrains(cluster, first_free_node(places)).of(places, channels);
}

Terrain Terrains::of(const std::vector<Place>& places, const std::optional<std::int64_t>& channels) {
    const Cluster& cluster = cluster_;
    Terrain terrain;
    terrain.ranks = static_cast<std::uint32_t>(places.size());
    std::set<std::uint32_t> nodes;
    for (const Place& place : places) nodes.insert(place.node);
    terrain.nodes = static_cast<std::uint32_t>(nodes.size());
    if (cluster.native || places.size() < 2) return terrain;
    const Transport& transport = cluster.transport;
    if (!wiring_) wiring_ = std::make_unique<Wiring>(cluster, nodes_);
    Wiring& wiring = *wiring_;
    std::vector<Wiring::Link> links;
    const auto narrow = [&](const Place& from, const Place& to) {
        double& least_Bps = from.node == to.node ? terrain.inside_Bps : terrain.between_Bps;
        const MessageTerms& terms = from.node == to.node ? transport.inside : transport.between;
        links.clear();
        wiring.route(from, to, links);
        for (const Wiring::Link link : links)
            least_Bps = std::min(least_Bps, wiring.wire(link).bandwidth_Bps * terms.payload);
        least_Bps = std::min(least_Bps, terms.limit_Bps(1e15) * terms.payload);
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
        // Covers ranks that share a node without being neighbours: nodes of a kind are alike, so one pair represents
        // all of them.
        for (std::size_t kind = 0; kind < cluster.kinds(); ++kind) {
            const auto of_kind = [&](const Place& place) { return cluster.kind_of(place.node) == kind; };
            const auto first = std::ranges::find_if(places, of_kind);
            if (first == places.end()) continue;
            const auto beside =
                std::find_if(first + 1, places.end(), [&](const Place& place) { return place.node == first->node; });
            if (beside != places.end()) narrow(*first, *beside);
        }
    }
    terrain.between_Bps *= std::min(most, orders.ports());
    terrain.inside_Bps *= std::min(most, orders.rings());
    return terrain;
}

namespace {

/// Returns the transport's selection where it applies: to operations that it covers, of all members.
std::shared_ptr<const Selection> selection_of(const Cluster& cluster, const AlgorithmSpec& named) {
    const std::shared_ptr<const Selection>& selection = cluster.transport.selection;
    const bool applies = selection && !cluster.native && named.contributors == 0 && named.receivers == 0 &&
                         selection->covers(named.operation);
    return applies ? selection : nullptr;
}

}  // namespace

Chooser::Chooser(const Cluster& cluster, const std::vector<Place>& places, AlgorithmSpec named,
                 const std::optional<Selection>& selection, const std::optional<std::int64_t>& channels,
                 Terrains& terrains)
    : named_(std::move(named)), orders_(cluster, places, requested_channels(cluster, channels)) {
    if (selection && selection->covers(named_.operation)) {
        selection_ = std::make_shared<const Selection>(*selection);
    } else if (!selection) {
        selection_ = selection_of(cluster, named_);
        limited_ = named_.named;
    }
    terrain_.ranks = static_cast<std::uint32_t>(places.size());
    if (selection_) terrain_ = terrains.of(places, channels);
    if (named_.operation != "allreduce" || places.size() == 1) return;
    if (named_.name == in_network_allreduce || selection_)
        in_network_ = in_network(cluster, places, named_.segment_bytes, named_.name != in_network_allreduce);
    // A library's protocols are those of ranks, not of switches.
    if (limited_ && std::dynamic_pointer_cast<const InNetwork>(in_network_)) selection_ = nullptr;
}

bool Chooser::possible(const AlgorithmSpec& spec) const {
    if (limited_ && spec.name != named_.name) return false;
    return spec.name != in_network_allreduce || in_network_ != nullptr;
}

Choice Chooser::decide(std::uint64_t bytes) const {
    if (selection_) {
        auto choice = syncline::choose(*selection_, named_.operation, bytes, terrain_,
                                       [&](const AlgorithmSpec& spec) { return possible(spec); });
        if (choice) {
            if (limited_) choice->algorithm = named_;
            return *choice;
        }
    }
    Choice choice;
    choice.algorithm = named_;
    choice.row = no_row;
    choice.why = fmt::format("`algorithm: {}`", named_.name);
    return choice;
}

Chosen Chooser::choose(std::uint64_t bytes) {
    const Choice choice = decide(bytes);
    const std::uint32_t channels = orders_.count(choice.algorithm, bytes);
    const std::string why = channels > 1 ? fmt::format("{}; in {} channels", choice.why, channels) : choice.why;
    const std::string by = choice.row == no_row ? "" : selection_->name;
    if (choice.algorithm.name == in_network_allreduce && in_network_)
        return {choice.algorithm, choice.protocol, why, by, in_network_};
    const std::string name = fmt::format("{}.{}", choice.row, choice.candidate);
    return {choice.algorithm, choice.protocol, why, by, orders_.make(choice.algorithm, bytes, name)};
}

std::string algorithm_label(const std::vector<Chosen>& chosen) {
    std::vector<std::string> names;
    std::string by;
    for (const Chosen& one : chosen) {
        const std::string name = candidate_name(one.spec, one.protocol);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        if (by.empty()) by = one.selection;
    }
    const std::string used = fmt::format("{}", fmt::join(names, ", "));
    return by.empty() ? used : fmt::format("{}: {}", by, used);
}

}  // namespace syncline

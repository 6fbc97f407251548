#include "sim/replay/wires.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace syncline {

namespace {

/// Returns the cluster whose fabric chooses among the shortest of the routes that are left.
Cluster routed_around(Cluster cluster) {
    std::optional<Routing::Policy>& policy = cluster.fabric.routing.policy;
    if (policy != Routing::Policy::adaptive_at_start) policy = Routing::Policy::ecmp;
    return cluster;
}

}  // namespace

Wires::Wires(const Cluster& cluster, const std::vector<Place>& places, std::uint32_t channels, bool contention)
    : places_(places),
      network_(cluster.network),
      travels_(syncline::latency_travels(cluster)),
      free_loopback_(!cluster.native && std::isinf(cluster.host.loopback_Bps)),
      channels_(channels),
      flat_(!cluster.native && is_flat(cluster)),
      transport_(cluster.transport) {
    for (const Place& place : places_)
        host_link_Bps_.push_back(cluster.device_of(cluster.kind_of(place.node)).host_link_Bps);
    if (cluster.native) {
        native_ = engine().load(*cluster.native);
        for (const NativeLinks::Link& link : native_->links())
            links_.push_back({link.name, link.bandwidth_Bps, link.latency_s, link.shared});
        if (streams_wait()) native_->drop_latencies();
        return;
    }
    std::uint32_t nodes = 0;
    for (const Place& place : places_) nodes = std::max(nodes, place.node + 1);
    wiring_ = std::make_unique<Wiring>(cluster, nodes);
    adapts_ = wiring_->adapts();
    sprays_ = wiring_->sprays();
    detours_ = takes_detours(wiring_->policy());
    const bool hashes = wiring_->policy() == Routing::Policy::ecmp || wiring_->policy() == Routing::Policy::valiant;
    by_channel_ = hashes && !wiring_->single_way() && channels_ > 1;
    for (Wiring::Link number = 0; number < wiring_->links(); ++number) {
        const Wire wire = wiring_->wire(number);
        links_.push_back(
            {wiring_->name(number), std::min(wire.bandwidth_Bps, unlimited_Bps), wire.latency_s, contention});
    }
    link_rates_ = syncline::link_rates(*wiring_, cluster);
    const auto avoidable = [&](const LinkRate& rate) {
        return in_fabric(rate.link) &&
               std::ranges::any_of(rate.rerouted.changes(), [](const auto& change) { return change.rate == 0; });
    };
    if (std::ranges::none_of(link_rates_, avoidable)) return;
    around_ = std::make_unique<Wiring>(routed_around(cluster), nodes);
    adapts_ = detours_ = true;
}

void Wires::represent(const std::vector<std::uint32_t>& chosen, std::uint32_t images, const PassedWays& ways) {
    std::vector<std::uint32_t> alike(chosen.size(), 0);
    for (const std::uint32_t link : chosen)
        if (link < passed) ++alike[link];
    for (std::size_t link = 0; link < chosen.size(); ++link)
        if (chosen[link] < passed) links_[link].times = images / alike[chosen[link]];
    chosen_ = chosen;
    passed_ = ways;
}

void Wires::avoid(std::uint32_t link, bool avoided) {
    if (!reroutes() || !in_fabric(link) || avoids(link) == avoided) return;
    avoided_.resize(links(), false);
    avoided_[link] = avoided;
    around_->avoid(avoided_);
}

void Wires::require_routes(std::uint32_t from, std::uint32_t to) const {
    if (!native_) return;
    native_->route(places_[from].node, places_[to].node);
    native_->route(places_[to].node, places_[from].node);
}

double Wires::latency_s(std::uint32_t from, std::uint32_t to, std::uint32_t channel) const {
    double sum_s = terms(from, to).latency_s;
    if (!streams_wait()) return sum_s;
    if (!passed_.empty() && !inside_node(from, to)) sum_s += passed_.at({from, to}).latency_s;
    const std::vector<double> parts = this->parts(from, to);
    std::size_t at = 0;  // all shortest paths together have the latency of one
    for (const std::uint32_t link : route_numbers(from, to, channel))
        sum_s += links_[link].latency_s * (parts.empty() ? 1 : parts[at++]);
    return sum_s;
}

std::vector<double> Wires::parts(std::uint32_t from, std::uint32_t to) const {
    if (!sprays_) return {};
    std::vector<Router::Share> shares;
    wiring_->spread(places_[from], places_[to], shares);
    std::vector<double> parts;
    for (const Router::Share& share : shares) parts.push_back(share.part);
    return parts;
}

double Wires::detour_s(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                       std::span<const std::uint32_t> path) const {
    if (!detours_) return 0;
    double sum_s = 0;
    for (const std::uint32_t link : path) sum_s += links_[link].latency_s;
    for (const std::uint32_t link : route_numbers(from, to, channel)) sum_s -= links_[link].latency_s;
    return sum_s;
}

bool Wires::weightless(std::uint32_t from, std::uint32_t to) const {
    const Place &a = places_[from], &b = places_[to];
    const bool loopback = a.node == b.node && (a == b || a.device == Place::host || b.device == Place::host);
    return network_ == NetworkModel::Constant || (loopback && free_loopback_ && terms(from, to).bandwidth.empty());
}

double Wires::staging_s(std::uint32_t process, std::uint64_t bytes) const {
    return on_device(process) ? transport_.staging.copy_s(bytes, host_link_Bps_[process]) : 0;
}

void Wires::carried(std::uint32_t from, std::uint32_t to, std::span<const std::uint32_t> links, std::uint64_t bytes) {
    if (sprays_) {
        const std::vector<double> parts = this->parts(from, to);
        for (std::size_t i = 0; i < links.size(); ++i)
            links_[links[i]].sprayed += static_cast<double>(bytes) * parts[i];
        return;
    }
    for (const std::uint32_t number : links) {
        Known& link = links_[number];
        link.several = link.several || (link.bytes > 0 && (link.from != from || link.to != to));
        link.bytes += bytes;
        if (bytes <= link.most_bytes) continue;
        link.most_bytes = bytes;
        link.from = from;
        link.to = to;
    }
    if (passed_.empty() || inside_node(from, to)) return;
    passed_.at({from, to}).bytes += bytes;
}

void Wires::carried_besides(std::uint32_t from, std::uint32_t to, std::uint32_t channel, std::uint64_t bytes) {
    std::vector<std::uint32_t> numbers;
    wiring_->route(places_[from], places_[to], numbers, channel, {});
    for (const std::uint32_t number : numbers) links_[number].besides += bytes;
}

std::vector<LinkUse> Wires::uses() const {
    std::vector<LinkUse> result;
    std::vector<std::uint64_t> passing(links_.size(), 0);
    for (const auto& [ends, way] : passed_)
        for (const std::uint32_t link : way.links) passing[link] += way.bytes;
    double highest = 0;
    std::size_t busiest_use = 0, busiest_link = 0;
    for (std::size_t i = 0; i < links_.size(); ++i) {
        Known link = links_[i];
        if (!chosen_.empty() && chosen_[i] < passed) link.bytes = links_[chosen_[i]].bytes * link.times;
        link.bytes += passing[i] + link.besides + static_cast<std::uint64_t>(std::llround(link.sprayed));
        if (link.bytes == 0 || !link.shared) continue;
        const double used_s = static_cast<double>(link.bytes) / link.bandwidth_Bps;
        if (used_s > highest) {
            highest = used_s;
            busiest_use = result.size();
            busiest_link = i;
        }
        const LinkKind kind = wiring_ ? wiring_->kind(static_cast<Wiring::Link>(i)) : LinkKind::other;
        result.push_back({link.name, link.bandwidth_Bps, link.bytes, 0, kind});
    }
    if (result.empty() || wiring_ == nullptr || wiring_->single_way() || sprays_) return result;
    std::vector<std::uint64_t> bytes;
    for (const Known& link : links_) bytes.push_back(link.bytes);
    // Messages between the same two ends would only wait for each other on another path.
    const Known& busiest = links_[busiest_link];
    if (busiest.several)
        result[busiest_use].unused_ways =
            wiring_->unused_ways(places_[busiest.from], places_[busiest.to], static_cast<Wiring::Link>(busiest_link),
                                 bytes, busiest.most_bytes);
    return result;
}

std::vector<TracedLink> Wires::traced() const {
    std::vector<TracedLink> result;
    for (const Known& link : links_) result.push_back({link.name, link.bandwidth_Bps, link.shared});
    return result;
}

std::vector<std::uint32_t> Wires::route_numbers(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                                                std::span<const std::uint32_t> in_flight) const {
    if (native_) return native_->route(places_[from].node, places_[to].node);
    std::vector<std::uint32_t> numbers;
    if (sprays_) {
        std::vector<Router::Share> shares;
        wiring_->spread(places_[from], places_[to], shares);
        for (const Router::Share& share : shares) numbers.push_back(share.hop);
        return numbers;
    }
    wiring_->route(places_[from], places_[to], numbers, channel, in_flight);
    const auto avoided = [this](std::uint32_t number) { return avoids(number); };
    if (!in_flight.empty() && std::ranges::any_of(numbers, avoided) && around_->reaches(places_[from], places_[to])) {
        numbers.clear();
        around_->route(places_[from], places_[to], numbers, channel, in_flight);
    }
    if (chosen_.empty()) return numbers;
    std::erase_if(numbers, [this](std::uint32_t number) { return chosen_[number] == passed; });
    for (std::uint32_t& number : numbers) {
        number = chosen_[number];
        if (number == no_link) throw std::logic_error("a message takes a route that the symmetry does not know");
    }
    return numbers;
}

bool Wires::pairs_alike(std::span<const std::uint32_t> processes) const {
    std::set<std::uint32_t> nodes;
    return flat_ && std::all_of(processes.begin(), processes.end(), [&](std::uint32_t process) {
               return on_device(process) && nodes.insert(places_[process].node).second;
           });
}

void Wires::append_shared(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                          std::vector<std::uint32_t>& numbers) const {
    if (copies_messages(from)) numbers.push_back(copy_engines(from));
    if (weightless(from, to)) return;
    const auto append = [&](const std::vector<std::uint32_t>& route) {
        std::copy_if(route.begin(), route.end(), std::back_inserter(numbers),
                     [this](std::uint32_t link) { return links_[link].shared; });
    };
    append(route_numbers(from, to, channel));
    if (!streams_wait()) append(route_numbers(to, from, channel));  // for its acknowledgements
}

}  // namespace syncline

#include "sim/replay/wires.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "sim/replay/native.hpp"
#include "sim/replay/routed_zone.hpp"

namespace syncline {

namespace sg = simgrid::s4u;

namespace {

const char* simgrid_name(NetworkModel model) {
    switch (model) {
        case NetworkModel::LV08:
            return "LV08";
        case NetworkModel::SMPI:
            return "SMPI";
        case NetworkModel::exact:
        case NetworkModel::Constant:
        case NetworkModel::CM02:
            break;
    }
    return "CM02";
}

/// Returns true if actors of ours sleep for messages' latency, rather than SimGrid.
bool sleeps_latency(NetworkModel model) {
    return model == NetworkModel::exact || model == NetworkModel::Constant;
}

}  // namespace

void configure_network(const Cluster& cluster) {
    const NetworkModel network = cluster.network;
    const auto set = [](const std::string& setting) { sg::Engine::set_config(setting); };
    set(fmt::format("network/model:{}", simgrid_name(network)));
    // Constant is the exact model for messages without bytes; SimGrid's own model of that name waits forever if two
    // messages that started at different times end together.
    if (sleeps_latency(network)) {
        // CM02 without its TCP parts (ACKs that share the link, and the window) is the α-β model with max-min sharing.
        set("network/crosstraffic:0");
        set("network/TCP-gamma:0");
    }
    // Full solves for all flows at every event: always correct, but slow if ranks do not run in step. Lazy is correct
    // if no message waits for a latency (see the header), as messages still do in some zones of native platforms.
    set(sleeps_latency(network) && !cluster.native ? "network/optim:Lazy" : "network/optim:Full");
    // Events closer than this are merged; the default, 1 ns, is the time of a few bytes.
    set("surf/precision:1e-12");
}

Wires::Wires(const Cluster& cluster, const std::vector<Place>& places, std::uint32_t channels, bool contention)
    : places_(places),
      network_(cluster.network),
      free_loopback_(!cluster.native && std::isinf(cluster.host.loopback_Bps)),
      contention_(contention),
      channels_(channels),
      flat_(!cluster.native && is_flat(cluster)),
      transport_(cluster.transport),
      host_link_Bps_(cluster.device.host_link_Bps) {
    if (cluster.native)
        load(cluster);
    else
        build(cluster);
}

void Wires::note(const sg::Link* link, std::string name, double latency_s) {
    if (wiring_ == nullptr) number_[link] = static_cast<std::uint32_t>(links_.size());
    const bool shared = link->get_sharing_policy() != sg::Link::SharingPolicy::FATPIPE;
    links_.push_back({std::move(name), link->get_bandwidth(), latency_s, shared});
}

void Wires::build(const Cluster& cluster) {
    std::uint32_t nodes = 0;
    for (const Place& place : places_) nodes = std::max(nodes, place.node + 1);
    wiring_ = new Wiring(cluster, nodes);  // lives as long as the engine, which is never destroyed
    adapts_ = wiring_->policy() == Routing::Policy::adaptive_at_start && !wiring_->single_way();
    by_channel_ = adapts_ || (wiring_->policy() == Routing::Policy::ecmp && !wiring_->single_way() && channels_ > 1);
    zone_ = new RoutedZone("cluster", *wiring_, adapts_);

    const auto create = [&](const std::string& name, const Place& place, std::uint32_t channel) {
        constexpr double speed = 1e9;  // arbitrary: tasks give their compute time in seconds
        sg::Host* host = zone_->get_iface()->create_host(name, speed);
        zone_->put(*host->get_netpoint(), place, channel);
        return host;
    };
    std::map<Place, sg::Host*> at;
    for (std::uint32_t process = 0; process < places_.size(); ++process) {
        const Place& place = places_[process];
        const std::string on = place.device == Place::host ? "host" : fmt::format("device-{}", place.device);
        if (by_channel_) {
            for (std::uint32_t channel = 0; channel < channels_; ++channel)
                hosts_.push_back(
                    create(fmt::format("node-{}/{}/{}-{}", place.node, on, process, channel), place, channel));
            continue;
        }
        sg::Host*& host = at[place];
        if (host == nullptr) host = create(fmt::format("node-{}/{}", place.node, on), place, 0);
        hosts_.push_back(host);
    }
    for (Wiring::Link number = 0; number < wiring_->links(); ++number) {
        const Wire wire = wiring_->wire(number);
        const std::string name = wiring_->name(number);
        // Unlimited links carry messages without bytes, or only add latency; any bandwidth that is never the bottleneck
        // will do.
        sg::Link* link = zone_->get_iface()->create_link(fmt::format("{}#{}", name, number),
                                                         std::isinf(wire.bandwidth_Bps) ? 1e18 : wire.bandwidth_Bps);
        if (!sleeps_latency(network_)) link->set_latency(wire.latency_s);
        if (!contention_) link->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
        link->seal();
        note(link, name, wire.latency_s);
        zone_->set_link(number, link);
    }
    zone_->get_iface()->seal();
}

double Wires::latency_s(std::uint32_t from, std::uint32_t to) {
    double sum_s = terms(from, to).latency_s;
    if (!sleeps_latency(network_)) return sum_s;
    for (const std::uint32_t link : route_numbers(from, to)) sum_s += links_[link].latency_s;
    return sum_s;
}

bool Wires::weightless(std::uint32_t from, std::uint32_t to) const {
    const Place &a = places_[from], &b = places_[to];
    const bool loopback = a.node == b.node && (a == b || a.device == Place::host || b.device == Place::host);
    return network_ == NetworkModel::Constant || (loopback && free_loopback_ && terms(from, to).bandwidth.empty());
}

double Wires::staging_s(std::uint32_t process, std::uint64_t bytes) const {
    return on_device(process) ? transport_.staging.copy_s(bytes, host_link_Bps_) : 0;
}

std::uint64_t Wires::put(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    return zone_->announce(*host(from, channel)->get_netpoint(), *host(to, channel)->get_netpoint());
}

std::vector<std::uint32_t> Wires::through(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                                          std::uint64_t number) {
    return zone_->take(*host(from, channel)->get_netpoint(), *host(to, channel)->get_netpoint(), number);
}

void Wires::carried(std::uint32_t from, std::uint32_t to, std::span<const std::uint32_t> links, std::uint64_t bytes) {
    for (const std::uint32_t number : links) {
        Known& link = links_[number];
        link.several = link.several || (link.bytes > 0 && (link.from != from || link.to != to));
        link.bytes += bytes;
        if (bytes <= link.most_bytes) continue;
        link.most_bytes = bytes;
        link.from = from;
        link.to = to;
    }
}

std::vector<LinkUse> Wires::uses() const {
    std::vector<LinkUse> result;
    double highest = 0;
    std::size_t busiest_use = 0, busiest_link = 0;
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const Known& link = links_[i];
        if (link.bytes == 0 || !link.shared) continue;
        const double used_s = static_cast<double>(link.bytes) / link.bandwidth_Bps;
        if (used_s > highest) {
            highest = used_s;
            busiest_use = result.size();
            busiest_link = i;
        }
        result.push_back({link.name, link.bandwidth_Bps, link.bytes});
    }
    if (result.empty() || wiring_ == nullptr || wiring_->single_way()) return result;
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

std::vector<std::uint32_t> Wires::route_numbers(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    std::vector<std::uint32_t> numbers;
    if (wiring_ != nullptr) {
        wiring_->route(places_[from], places_[to], numbers, channel);
        return numbers;
    }
    std::vector<sg::Link*> links;
    double latency_s = 0;
    hosts_[from]->route_to(hosts_[to], links, &latency_s);
    for (const sg::Link* link : links) numbers.push_back(number_.at(link));
    return numbers;
}

bool Wires::pairs_alike(std::span<const std::uint32_t> processes) const {
    std::set<std::uint32_t> nodes;
    return flat_ && std::all_of(processes.begin(), processes.end(), [&](std::uint32_t process) {
               return on_device(process) && nodes.insert(places_[process].node).second;
           });
}

void Wires::append_shared(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                          std::vector<std::uint32_t>& numbers) {
    if (copies_messages(from)) numbers.push_back(copy_engines(from));
    if (weightless(from, to)) return;
    const auto append = [&](const std::vector<std::uint32_t>& route) {
        std::copy_if(route.begin(), route.end(), std::back_inserter(numbers),
                     [this](std::uint32_t link) { return links_[link].shared; });
    };
    append(route_numbers(from, to, channel));
    if (!sleeps_latency(network_)) append(route_numbers(to, from, channel));  // for its acknowledgements
}

void Wires::load(const Cluster& cluster) {
    const std::vector<sg::Host*> nodes = load_native(*cluster.native);
    for (const Place& place : places_) hosts_.push_back(nodes.at(place.node));
    for (sg::Link* link : sg::Engine::get_instance()->get_all_links()) {
        note(link, link->get_name(), link->get_latency());
        if (sleeps_latency(network_) && link->get_sharing_policy() != sg::Link::SharingPolicy::WIFI)
            link->set_latency(0);
    }
}

}  // namespace syncline

#include "sim/simgrid/hosts.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include <map>
#include <string>

#include "sim/simgrid/native_links.hpp"
#include "sim/simgrid/root_zone.hpp"
#include "sim/simgrid/routed_zone.hpp"

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

}  // namespace

void configure_network(const SimGridEngine::Settings& settings) {
    const NetworkModel network = settings.model;
    const bool ours = latency_is_ours(network);
    const auto set = [](const std::string& setting) { sg::Engine::set_config(setting); };
    set(fmt::format("network/model:{}", simgrid_name(network)));
    // Constant is the exact model for messages without bytes; SimGrid's own model of that name waits forever if two
    // messages that started at different times end together.
    if (ours) {
        // CM02 without its TCP parts (ACKs that share the link, and the window) is the α-β model with max-min sharing.
        set("network/crosstraffic:0");
        set("network/TCP-gamma:0");
    }
    // Full solves for all flows at every event: always correct, but slow if ranks do not run in step. Lazy is correct
    // if no message waits for a latency (see the header), as messages still do in some zones of native platforms.
    set(ours && !settings.native && !settings.full ? "network/optim:Lazy" : "network/optim:Full");
    // Events closer than this are merged; the default, 1 ns, is the time of a few bytes.
    set("surf/precision:1e-12");
}

Hosts::Hosts(Wires& wires)
    : wires_(wires),
      rates_(wires.link_rates().size(), 1),
      by_channel_(wires.routes_by_channel()),
      channels_(wires.channels()) {
    const std::vector<Place>& places = wires.places();
    if (const auto* native = static_cast<const SimGridLinks*>(wires.native())) {
        for (const Place& place : places) hosts_.push_back(native->host(place.node));
        return;
    }
    // These live as long as the engine, which is never destroyed.
    auto* zone = new RoutedZone("cluster", wires);
    put_on_top(*zone);
    const auto create = [&](const std::string& name, ProcessId process, std::uint32_t channel) {
        constexpr double speed = 1e9;  // arbitrary: tasks give their compute time in seconds
        sg::Host* host = zone->get_iface()->create_host(name, speed);
        zone->put(*host->get_netpoint(), process, channel);
        return host;
    };
    std::map<Place, sg::Host*> at;
    for (ProcessId process = 0; process < places.size(); ++process) {
        const Place& place = places[process];
        const std::string on = place.device == Place::host ? "host" : fmt::format("device-{}", place.device);
        if (by_channel_) {
            for (std::uint32_t channel = 0; channel < channels_; ++channel)
                hosts_.push_back(
                    create(fmt::format("node-{}/{}/{}-{}", place.node, on, process, channel), process, channel));
            continue;
        }
        sg::Host*& host = at[place];
        if (host == nullptr) host = create(fmt::format("node-{}/{}", place.node, on), process, 0);
        hosts_.push_back(host);
    }
    for (std::uint32_t number = 0; number < wires.links(); ++number) {
        sg::Link* link = zone->get_iface()->create_link(fmt::format("link-{}", number), wires.bandwidth_Bps(number));
        if (!wires.streams_wait()) link->set_latency(wires.link_latency_s(number));
        if (!wires.shared(number)) link->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
        const auto& faulty = wires.link_rates();
        if (faulty_.size() < faulty.size() && faulty[faulty_.size()].link == number) {
            const double* const rate = &rates_[faulty_.size()];
            link->set_sharing_policy(sg::Link::SharingPolicy::NONLINEAR,
                                     [rate](double bandwidth_Bps, int) { return bandwidth_Bps * *rate; });
            faulty_.push_back(link);
        }
        link->seal();
        zone->set_link(number, link);
    }
    zone->get_iface()->seal();
}

void Hosts::set_rate(std::size_t faulty, double rate) {
    rates_[faulty] = rate;
    faulty_[faulty]->set_bandwidth(faulty_[faulty]->get_bandwidth());  // so that the solver asks
}

void Hosts::move(ProcessId process, std::uint32_t channel) const {
    if (!by_channel_) return;
    sg::Host* to = of(process, channel);
    if (sg::this_actor::get_host() != to) sg::this_actor::set_host(to);
}

}  // namespace syncline

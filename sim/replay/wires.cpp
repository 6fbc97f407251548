#include "sim/replay/wires.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Link.hpp>
#include <simgrid/s4u/NetZone.hpp>

#include <cmath>

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

void configure_network(const Cluster& cluster, bool sends_at_once) {
    const auto set = [](const std::string& setting) { sg::Engine::set_config(setting); };
    set(fmt::format("network/model:{}", simgrid_name(cluster.network)));
    // Constant is the exact model for messages of no bytes (see StreamActor); SimGrid's own of that name waits forever
    // when two messages that started at different times should end.
    if (cluster.network == NetworkModel::exact || cluster.network == NetworkModel::Constant) {
        // CM02 is the α-β model with max-min sharing once its TCP parts are off: ACKs that share the link, and the
        // window.
        set("network/crosstraffic:0");
        set("network/TCP-gamma:0");
    }
    // In 3.32 Lazy forgets a receiver's link when two messages of one node come through their latency at the same
    // instant, and then gives them more than the link has. Full solves for all flows at every event: right always,
    // and far slower where ranks don't run in step.
    set(sends_at_once ? "network/optim:Full" : "network/optim:Lazy");
    // Events closer than this are merged; the default, 1 ns, is as long as a few bytes take.
    set("surf/precision:1e-12");
}

namespace {

/// The node's link to the switch, and the way from the node to itself.
void connect(sg::NetZone* zone, const sg::Host* host, const Cluster& cluster) {
    const std::string name = host->get_name();
    const sg::Link* link = zone->create_split_duplex_link(name, cluster.fabric.bandwidth_Bps)
                               ->set_latency(cluster.fabric.latency_s)
                               ->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {{link, sg::LinkInRoute::Direction::UP}}, true);
    // An unlimited loopback gets messages of no bytes (see StreamActor), so any bandwidth does.
    const double loopback_Bps = std::isinf(cluster.host.loopback_Bps) ? 1 : cluster.host.loopback_Bps;
    const sg::Link* loopback = zone->create_link(name + "-loopback", loopback_Bps)->seal();
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr, {sg::LinkInRoute(loopback)}, true);
}

}  // namespace

std::vector<sg::Host*> wire(const Cluster& cluster, std::uint32_t nodes) {
    sg::NetZone* zone = sg::create_star_zone("fabric");
    std::vector<sg::Host*> hosts;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        constexpr double speed = 1e9;  // of no account: tasks say how long they compute
        hosts.push_back(zone->create_host(fmt::format("node-{}", node), speed));
        connect(zone, hosts.back(), cluster);
    }
    zone->seal();
    return hosts;
}

}  // namespace syncline

#include "sim/platform/wiring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/platform/node_rings.hpp"

namespace syncline {

namespace {

/// Returns the size of the fabric: a star is made for the nodes in use, other fabrics have the size that their
/// parameters give.
std::int64_t fabric_hosts(const Cluster& cluster, std::uint32_t nodes) {
    const std::int64_t wired =
        cluster.fabric.topology.shape == Shape::star ? nodes : std::max<std::int64_t>(cluster.fabric_nodes(), nodes);
    return wired * cluster.node.nics;
}

TopologySpec fabric_spec(const Cluster& cluster) {
    TopologySpec spec = cluster.fabric.topology;
    if (spec.shape == Shape::star) spec.hosts = 0;
    return spec;
}

bool is_there(const Wire& wire) {
    return !std::isinf(wire.bandwidth_Bps) || wire.latency_s > 0;
}

/// Returns the routing inside a node, where there are no levels and the only choice is the direction in a ring of
/// devices.
Routing inside_routing(const Routing& fabric) {
    Routing routing;
    if (fabric.policy == Routing::Policy::first) routing.policy = Routing::Policy::first;
    return routing;
}

bool has_ports_of_its_own(const OtherNodes& other) {
    return other.port_Bps.has_value();
}

/// Returns the parallel links of a pair as one.
Wire merged(const DevicePair& pair, const Wire& link) {
    return {link.bandwidth_Bps * pair.links, link.latency_s};
}

}  // namespace

Wiring::Wiring(const Cluster& cluster, std::uint32_t nodes)
    : node_(cluster.node),
      loopback_Bps_(cluster.host.loopback_Bps),
      transport_Bps_(cluster.transport.host_Bps),
      relays_(relays_on_rails(cluster)),
      nodes_(nodes),
      fabric_(make_topology(fabric_spec(cluster), Use::fabric, fabric_hosts(cluster, nodes))),
      fabric_router_(fabric_, cluster.fabric.routing),
      inside_(inside(cluster.node)),
      inside_router_(inside_, inside_routing(cluster.fabric.routing)) {
    const auto devices = static_cast<std::uint32_t>(node_.devices), nics = static_cast<std::uint32_t>(node_.nics);
    const bool pcie = node_.has_pcie();
    if (pcie) {
        for (std::uint32_t nic = 0; nic < nics; ++nic) {
            std::uint32_t first = 0;
            while (first < devices && node_.nic(first) != nic) ++first;
            // A port that no device uses is attached to the host bridge, the last vertex.
            const auto on = static_cast<std::uint32_t>(first / node_.devices_per_switch);
            port_switch_.push_back(first < devices ? devices + on : inside_.vertices() - 1);
        }
    }
    fabric_links_ = static_cast<Link>(fabric_router_.hops().size());
    switch_hops_ = static_cast<std::uint32_t>(inside_router_.hops().size());
    if (node_.links == NodeLinks::mesh && pcie) add_direct_links();
    node_hops_ = switch_hops_ + static_cast<std::uint32_t>(direct_links_.size());
    const bool ports = is_there(node_.nic_link) || std::ranges::any_of(cluster.others, has_ports_of_its_own);
    port_links_ = ports ? (pcie ? nics : devices) : 0;
    auto first = static_cast<std::uint32_t>(cluster.own_nodes());
    for (const OtherNodes& other : cluster.others) {
        rates_.insert(rates_.begin(), {first, other.link_Bps, other.port_Bps});
        first += static_cast<std::uint32_t>(other.count);
    }
    transport_links_ = std::isinf(transport_Bps_) ? 0 : 2;
    node_links_ = node_hops_ + 2 * port_links_ + transport_links_ + 1;
    constexpr std::uint64_t most_links = 100'000'000;
    if (fabric_links_ + std::uint64_t{nodes_} * node_links_ > most_links)
        throw TopologyError("", fmt::format("{} nodes with {} links each are too many", nodes_, node_links_));
}

Topology Wiring::inside(const NodeDesign& design) {
    Topology topology;
    const auto devices = static_cast<std::uint32_t>(design.devices);
    for (std::uint32_t device = 0; device < devices; ++device) topology.add_host(fmt::format("device-{}", device));
    if (devices == 1 && !design.has_pcie()) return topology;
    switch (design.has_pcie() ? NodeLinks::pcie : design.links) {
        case NodeLinks::all_to_all:
            for (std::uint32_t a = 0; a < devices; ++a) {
                for (std::uint32_t b = a + 1; b < devices; ++b) topology.add_cable(a, b, design.link);
            }
            break;
        case NodeLinks::ring:
            topology.circular = true;
            for (std::uint32_t a = 0; a + 1 < devices; ++a) topology.add_cable(a, a + 1, design.link);
            if (devices > 2) topology.add_cable(devices - 1, 0, design.link);
            break;
        case NodeLinks::crossbar: {
            const std::uint32_t crossbar = topology.add_switch("switch", 1);
            for (std::uint32_t a = 0; a < devices; ++a) topology.add_cable(a, crossbar, design.link);
            break;
        }
        case NodeLinks::pcie: {
            const auto each = static_cast<std::uint32_t>(design.devices_per_switch);
            const std::uint32_t switches = (devices + each - 1) / each;
            for (std::uint32_t s = 0; s < switches; ++s) topology.add_switch(fmt::format("pcie-{}", s), 1);
            const std::uint32_t bridge = topology.add_switch("host-bridge", 2);
            for (std::uint32_t a = 0; a < devices; ++a) topology.add_cable(a, devices + a / each, design.pcie_wire());
            for (std::uint32_t s = 0; s < switches; ++s) topology.add_cable(devices + s, bridge, design.pcie_wire());
            break;
        }
        case NodeLinks::mesh:
            for (const DevicePair& pair : design.pairs) topology.add_cable(pair.a, pair.b, merged(pair, design.link));
            break;
    }
    return topology;
}

void Wiring::add_direct_links() {
    const auto devices = static_cast<std::uint32_t>(node_.devices);
    direct_.assign(std::size_t{devices} * devices, no_link);
    for (const DevicePair& pair : node_.pairs) {
        for (const auto& [from, to] : {std::pair{pair.a, pair.b}, std::pair{pair.b, pair.a}}) {
            direct_[std::size_t{from} * devices + to] = switch_hops_ + static_cast<std::uint32_t>(direct_links_.size());
            direct_links_.push_back({from, to, 0, merged(pair, node_.link)});
        }
    }
}

double Wiring::own_Bps(std::uint32_t node, std::uint32_t local, double usual_Bps) const {
    const auto kind = std::ranges::find_if(rates_, [node](const OtherRates& one) { return one.first_node <= node; });
    if (kind == rates_.end()) return usual_Bps;
    if (local >= node_hops_) return kind->port_Bps.value_or(usual_Bps);
    // PCIe beside the links of a mesh is the same in all nodes. Parallel links are one with the sum of their rates.
    const bool beside = node_.links == NodeLinks::mesh && node_.has_pcie() && local < switch_hops_;
    return kind->link_Bps && !beside ? usual_Bps / node_.link.bandwidth_Bps * *kind->link_Bps : usual_Bps;
}

Wire Wiring::wire(Link link) const {
    if (link < fabric_links_) return fabric_router_.hops()[link].wire;
    const std::uint32_t node = (link - fabric_links_) / node_links_, local = (link - fabric_links_) % node_links_;
    const auto own = [&](const Wire& usual) {
        return Wire{own_Bps(node, local, usual.bandwidth_Bps), usual.latency_s};
    };
    if (local < switch_hops_) return own(inside_router_.hops()[local].wire);
    if (local < node_hops_) return own(direct_links_[local - switch_hops_].wire);
    if (local < node_hops_ + 2 * port_links_) return own(node_.nic_link);
    if (local < node_links_ - 1) return {transport_Bps_, 0};
    return {loopback_Bps_, 0};
}

LinkKind Wiring::kind(Link link) const {
    if (link < fabric_links_) {
        const Router::Hop& ends = fabric_router_.hops()[link];
        return std::min(ends.from, ends.to) < fabric_.hosts ? LinkKind::port : LinkKind::fabric;
    }
    const std::uint32_t local = (link - fabric_links_) % node_links_;
    if (local < node_hops_ || local == node_links_ - 1) return LinkKind::node;
    return local < node_hops_ + 2 * port_links_ ? LinkKind::port : LinkKind::transport;
}

std::string Wiring::name(Link link) const {
    const auto named = [](const Router::Hop& ends, const Topology& topology) {
        return fmt::format("{}->{}", topology.graph[ends.from].name, topology.graph[ends.to].name);
    };
    if (link < fabric_links_) return named(fabric_router_.hops()[link], fabric_);
    const std::uint32_t node = (link - fabric_links_) / node_links_, local = (link - fabric_links_) % node_links_;
    if (local < switch_hops_) return fmt::format("node-{}/{}", node, named(inside_router_.hops()[local], inside_));
    if (local < node_hops_) return fmt::format("node-{}/{}", node, named(direct_links_[local - switch_hops_], inside_));
    if (local == node_links_ - 1) return fmt::format("node-{}/loopback", node);
    if (local >= node_hops_ + 2 * port_links_)
        return fmt::format("node-{}/transport-{}", node, link == transport_link(node, true) ? "out" : "in");
    const std::uint32_t attachment = (local - node_hops_) / 2;
    const bool outwards = (local - node_hops_) % 2 == 0;
    const std::string near =
        node_.has_pcie() ? inside_.graph[port_switch_[attachment]].name : inside_.graph[attachment].name;
    const std::string port = fmt::format("nic-{}", node_.has_pcie() ? attachment : node_.nic(attachment));
    return fmt::format("node-{}/{}->{}", node, outwards ? near : port, outwards ? port : near);
}

void Wiring::within(std::uint32_t node, std::uint32_t from, std::uint32_t to, std::vector<Link>& links) {
    const auto devices = static_cast<std::uint32_t>(node_.devices);
    if (!direct_.empty() && from < devices && to < devices) {
        if (const std::uint32_t link = direct_[std::size_t{from} * devices + to]; link != no_link) {
            links.push_back(in_node(node, link));
            return;
        }
    }
    hop_buffer_.clear();
    inside_router_.route(from, to, hop_buffer_);
    for (const std::uint32_t hop : hop_buffer_) links.push_back(in_node(node, hop));
}

void Wiring::attach(const Place& place, std::uint32_t port, bool outwards, std::vector<Link>& links) {
    const bool pcie = node_.has_pcie();
    const auto own = [&] {
        const std::uint32_t attachment = pcie ? port : place.device;
        if (port_links_ > 0) links.push_back(in_node(place.node, node_hops_ + 2 * attachment + (outwards ? 0 : 1)));
    };
    if (!pcie) {
        if (place.device != Place::host) own();
        return;
    }
    const std::uint32_t inner = place.device == Place::host ? inside_.vertices() - 1 : place.device;
    if (outwards) {
        within(place.node, inner, port_switch_[port], links);
        own();
    } else {
        own();
        within(place.node, port_switch_[port], inner, links);
    }
}

Place Wiring::sender(const Place& from, const Place& to) const {
    if (!relays_ || !from.on_device() || !to.on_device() || port_of(from) == port_of(to)) return from;
    const bool apart = node_.links == NodeLinks::mesh && direct_links(node_, from.device, to.device) == 0;
    return apart ? from : Place{from.node, to.device};
}

void Wiring::route(const Place& from, const Place& to, std::vector<Link>& links, std::uint32_t channel,
                   std::span<const std::uint32_t> in_flight) {
    if (in_same_node(from, to)) {
        if (from == to || from.device == Place::host || to.device == Place::host)
            links.push_back(in_node(from.node, node_links_ - 1));
        else
            within(from.node, from.device, to.device, links);
        return;
    }
    const Place by = sender(from, to);
    if (!from.in_fabric()) {
        if (by != from) within(from.node, from.device, by.device, links);
        if (transport_links_ > 0) links.push_back(transport_link(from.node, true));
        attach(by, port_of(by), true, links);
    }
    fabric_router_.route(fabric_vertex(by), fabric_vertex(to), links, channel, in_flight);
    if (to.in_fabric()) return;
    attach(to, port_of(to), false, links);
    if (transport_links_ > 0) links.push_back(transport_link(to.node, false));
}

void Wiring::spread(const Place& from, const Place& to, std::vector<Router::Share>& shares) {
    std::vector<Link> path;
    route(from, to, path);
    for (const Link link : path)
        if (!in_fabric(link)) shares.push_back({link, 1});
    if (!in_same_node(from, to)) fabric_router_.spread(fabric_vertex(sender(from, to)), fabric_vertex(to), shares);
}

double Wiring::unused_ways(const Place& from, const Place& to, Link link, std::span<const std::uint64_t> bytes,
                           std::uint64_t moved) {
    if (in_same_node(from, to) || link >= fabric_links_) return 0;
    return fabric_router_.unused_ways(fabric_vertex(sender(from, to)), fabric_vertex(to), link, bytes, moved);
}

bool Wiring::reaches(const Place& from, const Place& to) {
    return in_same_node(from, to) || fabric_router_.reaches(fabric_vertex(sender(from, to)), fabric_vertex(to));
}

double Wiring::latency_s(const std::vector<Link>& links) const {
    double sum_s = 0;
    for (const Link link : links) sum_s += wire(link).latency_s;
    return sum_s;
}

}  // namespace syncline

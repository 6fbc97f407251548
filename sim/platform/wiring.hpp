#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// A cluster's links, numbered, and the way of a message over them.
///
/// Between nodes: device → its port → fabric → the other device's port → device, and where the transport limits what a
/// node sends and receives in all, over a link for each that stands for it ("node-3/transport-out"). Inside a node:
/// over the links between its devices, by the fewest. Between a device and its host, or from a place to itself: the
/// node's loopback. Links that are unlimited and take no time are not there at all. A host uses its node's first port.
/// Where a node's ring of devices has two ways, they are chosen as in a fabric without levels: `first`, or else `ecmp`.
///
/// All nodes have the same links inside, so a route costs no table; see Router for the fabric.
namespace syncline {

class Wiring {
public:
    using Link = std::uint32_t;

    /// `nodes`: how many are used, from the first on. A star is built for no more of them. Throws TopologyError.
    Wiring(const Cluster& cluster, std::uint32_t nodes);

    Link links() const { return fabric_links_ + nodes_ * node_links_; }
    Wire wire(Link link) const;
    /// "leaf-0->host-3", "node-2/device-0->device-1".
    std::string name(Link link) const;
    /// Appends the links from one place to another: never none. `in_flight`: flows by link, for routes that depend on
    /// them; empty: none anywhere.
    void route(const Place& from, const Place& to, std::vector<Link>& links, std::uint32_t channel = 0,
               std::span<const std::uint32_t> in_flight = {});
    Routing::Policy policy() const { return fabric_router_.policy(); }
    /// Whether there is one way only between any two ports, whatever the policy.
    bool single_way() const { return fabric_router_.single_way(); }
    /// Ways through the fabric as short as the route, around `link` and unused: see Router. `bytes`: by link.
    double unused_ways(const Place& from, const Place& to, Link link, std::span<const std::uint64_t> bytes);
    /// Sum of the latencies.
    double latency_s(const std::vector<Link>& links) const;

private:
    /// Inside every node: its devices, then PCIe switches and the host bridge, if any; its ports are not among them.
    static Topology inside(const NodeDesign& design);

    Link in_node(std::uint32_t node, std::uint32_t link) const { return fabric_links_ + node * node_links_ + link; }
    Link transport_link(std::uint32_t node, bool outwards) const {
        return in_node(node, node_hops_ + 2 * port_links_ + (outwards ? 0 : 1));
    }
    /// Between a device (or a host) and its port, outwards or inwards.
    void attach(const Place& place, std::uint32_t port, bool outwards, std::vector<Link>& links);
    void within(std::uint32_t node, std::uint32_t from, std::uint32_t to, std::vector<Link>& links);

    std::uint32_t port_of(const Place& place) const {
        return place.device == Place::host ? 0 : node_.nic(place.device);
    }
    /// The fabric's host that is this place's port.
    std::uint32_t fabric_host(const Place& place) const {
        return place.node * static_cast<std::uint32_t>(node_.nics) + port_of(place);
    }

    const NodeDesign node_;
    const double loopback_Bps_, transport_Bps_;
    const std::uint32_t nodes_;
    Topology fabric_;
    Router fabric_router_;
    Topology inside_;
    Router inside_router_;
    std::vector<std::uint32_t> hop_buffer_;
    /// With PCIe, where each port hangs: the switch's vertex in inside_.
    std::vector<std::uint32_t> port_switch_;
    Link fabric_links_;
    std::uint32_t node_hops_, port_links_;  // of a node: between devices; each attachment to a port, both directions
    std::uint32_t transport_links_;         // of a node: outwards and inwards, or none
    std::uint32_t node_links_;              // all of a node, the transport's behind the ports', its loopback the last
};

}  // namespace syncline

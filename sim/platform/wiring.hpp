#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// The numbered links of a cluster, and the routes of messages over them.
///
/// Between nodes a route is: device → its port → fabric → the other device's port → device, with a link for each limit
/// of the transport on a node's total traffic ("node-3/transport-out"). Inside a node: the links between its devices,
/// by the fewest hops; in a mesh the pair's own link, or PCIe, if the node has it, as in NCCL's rings (NVIDIA/nccl,
/// issue 301), or else a neighbour of both (issue 819). Between a device and its host, or from a place to itself: the
/// node's loopback. Links that are unlimited and take no time are left out. A host uses its node's first port. A switch
/// of the fabric is the end of a route at that vertex. With PXN (relays_on_rails) a route to another rail begins with
/// that to the device with the receiver's number. Several shortest paths in a node are chosen as in a fabric without
/// levels: `first`, or else `ecmp`. All nodes have the same links inside, so a route needs no table;
/// those of nodes of another kind may have other bandwidths.
namespace syncline {

class Wiring {
public:
    using Link = std::uint32_t;

    /// `nodes`: number of nodes that are used, from the first on. A star is built for exactly these. Throws
    /// TopologyError.
    Wiring(const Cluster& cluster, std::uint32_t nodes);

    Link links() const { return fabric_links_ + nodes_ * node_links_; }
    bool in_fabric(Link link) const { return link < fabric_links_; }
    Wire wire(Link link) const;
    /// Returns the vertices of the fabric between which one of its links is.
    const Router::Hop& hop(Link link) const { return fabric_router_.hops()[link]; }
    /// Returns where the link is; `transport`: a limit of the transport on a node's total traffic.
    LinkKind kind(Link link) const;
    /// Returns the link's name: "leaf-0->host-3", "node-2/device-0->device-1".
    std::string name(Link link) const;
    /// Appends the links from one place to another, at least one. `in_flight`: flows by link, for routes that depend on
    /// them; empty: none anywhere.
    void route(const Place& from, const Place& to, std::vector<Link>& links, std::uint32_t channel = 0,
               std::span<const std::uint32_t> in_flight = {});
    /// Appends all links that a message takes part by part, in a fabric that sprays packets: see Router::spread().
    void spread(const Place& from, const Place& to, std::vector<Router::Share>& shares);
    Routing::Policy policy() const { return fabric_router_.policy(); }
    /// Returns true if there is only one path between any two ports, whatever the policy.
    bool single_way() const { return fabric_router_.single_way(); }
    /// Returns true if the two ports alone decide the path between them, by position rather than by hash.
    bool fixed_ways() const {
        return single_way() || policy() == Routing::Policy::d_mod_k || policy() == Routing::Policy::first;
    }
    /// Returns true if routes depend on the flows in flight.
    bool adapts() const { return depends_on_load(policy()) && !single_way(); }
    /// Returns true if packets of a message take different paths.
    bool sprays() const { return policy() == Routing::Policy::spray && !single_way(); }
    /// Counts the unused paths through the fabric that are as short as the route and avoid `link`: see Router. `bytes`:
    /// by link.
    double unused_ways(const Place& from, const Place& to, Link link, std::span<const std::uint64_t> bytes,
                       std::uint64_t moved);
    /// Returns the network between nodes.
    const Topology& fabric() const { return fabric_; }
    /// Returns the fabric's host that is this place's port.
    std::uint32_t fabric_host(const Place& place) const {
        return place.node * static_cast<std::uint32_t>(node_.nics) + port_of(place);
    }
    /// Leaves out links of the fabric from now on, by number: see Router::avoid().
    void avoid(std::vector<bool> links) { fabric_router_.avoid(std::move(links)); }
    /// Returns false if the links that are left out cut the places off from each other.
    bool reaches(const Place& from, const Place& to);
    /// Returns the sum of the latencies.
    double latency_s(const std::vector<Link>& links) const;

private:
    /// Returns the inside of every node: its devices, then PCIe switches and the host bridge, if any; ports are not
    /// included, nor the direct links of a mesh beside PCIe.
    static Topology inside(const NodeDesign& design);
    void add_direct_links();

    Link in_node(std::uint32_t node, std::uint32_t link) const { return fabric_links_ + node * node_links_ + link; }
    Link transport_link(std::uint32_t node, bool outwards) const {
        return in_node(node, node_hops_ + 2 * port_links_ + (outwards ? 0 : 1));
    }
    /// Appends the links between a device (or a host) and its port, outwards or inwards.
    void attach(const Place& place, std::uint32_t port, bool outwards, std::vector<Link>& links);
    void within(std::uint32_t node, std::uint32_t from, std::uint32_t to, std::vector<Link>& links);

    /// Returns the device of the sender's node by which a message to another node goes: mostly itself.
    Place sender(const Place& from, const Place& to) const;
    std::uint32_t port_of(const Place& place) const {
        return place.device == Place::host ? 0 : node_.nic(place.device);
    }
    /// Returns the vertex of the fabric that is this place, or its port.
    std::uint32_t fabric_vertex(const Place& place) const {
        return place.in_fabric() ? place.vertex() : fabric_host(place);
    }

    /// Returns the bandwidth of a link inside a node, or to one of its ports.
    double own_Bps(std::uint32_t node, std::uint32_t local, double usual_Bps) const;

    const NodeDesign node_;
    /// The kinds of nodes that differ in bandwidths, by their first node, the last first.
    struct OtherRates {
        std::uint32_t first_node;
        std::optional<double> link_Bps, port_Bps;
    };
    std::vector<OtherRates> rates_;
    const double loopback_Bps_, transport_Bps_;
    const bool relays_;
    const std::uint32_t nodes_;
    Topology fabric_;
    Router fabric_router_;
    Topology inside_;
    Router inside_router_;
    std::vector<std::uint32_t> hop_buffer_;
    /// With PCIe: for each port, the switch that it is attached to, as a vertex of inside_.
    std::vector<std::uint32_t> port_switch_;
    /// In a mesh beside PCIe: its links, as ends in both directions, and by source and destination the number of the
    /// link, or `no_link`.
    static constexpr std::uint32_t no_link = ~std::uint32_t{0};
    std::vector<Router::Hop> direct_links_;
    std::vector<std::uint32_t> direct_;
    Link fabric_links_;
    std::uint32_t switch_hops_;             // per node: between devices and switches, without direct_links_
    std::uint32_t node_hops_, port_links_;  // per node: between devices; attachments to ports, in each direction
    std::uint32_t transport_links_;         // per node: outwards and inwards, or none
    std::uint32_t node_links_;              // per node, in total: the transport's after the ports', the loopback last
};

}  // namespace syncline

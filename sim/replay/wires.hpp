#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Link.hpp>

#include "sim/platform/wiring.hpp"
#include "sim/replay/timeline.hpp"

/// A Cluster as SimGrid's hosts and links.
///
/// SimGrid asks for the route of each message; a zone of ours answers from a Wiring, so no table of routes is built
/// (routed_zone.hpp). A SimGrid host is a place; if routes depend on the channel or on the traffic in flight, it is one
/// process and channel, so that the zone knows whose message asks. With the network model `exact` (or Constant),
/// SimGrid's links have no latency: the actor that waits for a message sleeps for its latency (see StreamActor).
/// SimGrid would hold each message back for its latency, and share links in proportion to 1/latency, which no network
/// does; and if several messages complete their latency at the same instant, its lazy solver (3.32) forgets the links
/// of all but the first.
namespace syncline {

class RoutedZone;

/// Chooses the network model; must be called before the engine's first zone is created.
void configure_network(const Cluster& cluster);

class Wires {
public:
    /// Builds the hosts and links for the processes at `places`, or loads the native platform. Channels are 0 …
    /// channels-1. Without `contention` every message has each link for itself, except on a native platform.
    Wires(const Cluster& cluster, const std::vector<Place>& places, std::uint32_t channels = 1, bool contention = true);

    /// Returns the host of a process while it sends or receives on a channel.
    simgrid::s4u::Host* host(std::uint32_t process, std::uint32_t channel) const {
        return hosts_[by_channel_ ? process * channels_ + channel : process];
    }
    bool hosts_by_channel() const { return by_channel_; }
    /// Returns true if messages choose their path when they start. Then each is announced by put() and, when its bytes
    /// are delivered, reported by through(), which returns its path; otherwise the path is route_numbers().
    bool adapts() const { return adapts_; }
    /// Announces a connection's next message and returns its number.
    std::uint64_t put(std::uint32_t from, std::uint32_t to, std::uint32_t channel);
    std::vector<std::uint32_t> through(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                                       std::uint64_t number);

    const Transport& transport() const { return transport_; }
    /// Returns true if both processes are on one node, which determines the terms of their messages.
    bool inside_node(std::uint32_t from, std::uint32_t to) const { return places_[from].node == places_[to].node; }
    const MessageTerms& terms(std::uint32_t from, std::uint32_t to) const {
        return inside_node(from, to) ? transport_.inside : transport_.between;
    }
    bool on_device(std::uint32_t process) const { return places_[process].device != Place::host; }
    /// Returns true if the process copies each message out of its device, or into it.
    bool copies_messages(std::uint32_t process) const {
        return transport_.staging.unit == Staging::Unit::message && on_device(process);
    }
    /// Returns the time of a copy between a process's device and the transport's buffers, in one direction.
    double staging_s(std::uint32_t process, std::uint64_t bytes) const;

    /// Returns the time of a message between two processes in addition to its bytes, except for what SimGrid adds; the
    /// transport's latency is included.
    double latency_s(std::uint32_t from, std::uint32_t to);
    /// Returns true if bytes take no time from one process to the other: over an unlimited loopback, and always in the
    /// Constant network model.
    bool weightless(std::uint32_t from, std::uint32_t to) const;

    /// Counts bytes on the wires for links of the path from one process to another.
    void carried(std::uint32_t from, std::uint32_t to, std::span<const std::uint32_t> links, std::uint64_t bytes);
    /// Returns the links that carried any bytes and have limited bandwidth, in the order of their creation.
    std::vector<LinkUse> uses() const;

    /// Returns true if all pairs of these processes have equal connections, and messages between disjoint pairs share
    /// nothing: on a flat fabric, with each process on a node of its own.
    bool pairs_alike(std::span<const std::uint32_t> processes) const;

    /// Counts the resources that messages may share: links, by index, followed by each process's copy engines.
    std::size_t resources() const { return links_.size() + places_.size(); }
    std::uint32_t copy_engines(std::uint32_t process) const {
        return static_cast<std::uint32_t>(links_.size()) + process;
    }
    double bandwidth_Bps(std::size_t resource) const {
        return resource < links_.size() ? links_[resource].bandwidth_Bps : std::numeric_limits<double>::infinity();
    }
    /// Appends the resources that a message sent by `from` shares with others, except for its receiver's copies.
    void append_shared(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                       std::vector<std::uint32_t>& numbers);

    /// Return all links, and the indices of the links from one process to another.
    std::vector<TracedLink> traced() const;
    std::vector<std::uint32_t> route_numbers(std::uint32_t from, std::uint32_t to, std::uint32_t channel = 0);

private:
    void build(const Cluster& cluster);
    void load(const Cluster& cluster);
    void note(const simgrid::s4u::Link* link, std::string name, double latency_s);

    struct Known {
        std::string name;
        double bandwidth_Bps = 0;
        double latency_s = 0;
        bool shared = true;  ///< if false, every message has the whole bandwidth for itself
        std::uint64_t bytes = 0;
        /// The ends of the messages that contributed most bytes in one call.
        std::uint32_t from = 0, to = 0;
        std::uint64_t most_bytes = 0;
        bool several = false;  ///< messages between other ends, too
    };

    const std::vector<Place> places_;
    const NetworkModel network_;
    const bool free_loopback_;
    const bool contention_;
    const std::uint32_t channels_;
    bool by_channel_ = false, adapts_ = false;
    const bool flat_;
    const Transport transport_;
    const double host_link_Bps_;
    std::vector<simgrid::s4u::Host*> hosts_;  // by process, or by process and channel
    Wiring* wiring_ = nullptr;                // null on a native platform; lives as long as the engine
    RoutedZone* zone_ = nullptr;
    std::vector<Known> links_;
    std::unordered_map<const simgrid::s4u::Link*, std::uint32_t> number_;  // on a native platform
};

}  // namespace syncline

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
/// (routed_zone.hpp). A host of SimGrid's is a place, and where routes depend on the channel or on what is in flight it
/// is one process and channel: that is how the zone knows whose message asks. Where the network model is `exact` (or
/// Constant), SimGrid's links have no latency: a message's latency is slept by whoever waits for it (see StreamActor).
/// SimGrid would hold each message back for its latency, and share links in proportion to 1/latency, which no network
/// does; and where several messages leave their latency at the same instant its lazy solver (3.32) forgets links of all
/// but the first.
namespace syncline {

class RoutedZone;

/// Chooses the network model; before the engine's first zone.
void configure_network(const Cluster& cluster);

class Wires {
public:
    /// Builds what the processes at `places` need, or loads the native platform. Channels are 0 … channels-1. Without
    /// `contention` every message has each link for itself; a native platform's links stay as they are.
    Wires(const Cluster& cluster, const std::vector<Place>& places, std::uint32_t channels = 1, bool contention = true);

    /// Where a process must be while it sends or receives on a channel.
    simgrid::s4u::Host* host(std::uint32_t process, std::uint32_t channel) const {
        return hosts_[by_channel_ ? process * channels_ + channel : process];
    }
    bool hosts_by_channel() const { return by_channel_; }
    /// Whether messages choose their way when they start. Then each is announced by put() and, when its bytes are
    /// through, by through(), which returns its way; others have it from route_numbers().
    bool adapts() const { return adapts_; }
    /// The number of a connection's next message.
    std::uint64_t put(std::uint32_t from, std::uint32_t to, std::uint32_t channel);
    std::vector<std::uint32_t> through(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                                       std::uint64_t number);

    const Transport& transport() const { return transport_; }
    /// What messages between two processes pay.
    bool inside_node(std::uint32_t from, std::uint32_t to) const { return places_[from].node == places_[to].node; }
    const MessageTerms& terms(std::uint32_t from, std::uint32_t to) const {
        return inside_node(from, to) ? transport_.inside : transport_.between;
    }
    bool on_device(std::uint32_t process) const { return places_[process].device != Place::host; }
    /// Whether it copies each message out of its device, or into it.
    bool copies_messages(std::uint32_t process) const {
        return transport_.staging.unit == Staging::Unit::message && on_device(process);
    }
    /// Of a copy between a process's device and the transport's buffers, in one direction.
    double staging_s(std::uint32_t process, std::uint64_t bytes) const;

    /// What a message between two processes takes beside its bytes, where that is not SimGrid's to add; the transport's
    /// latency included.
    double latency_s(std::uint32_t from, std::uint32_t to);
    /// Whether bytes take no time from one process to the other: over an unlimited loopback, and everywhere in the
    /// Constant network model.
    bool weightless(std::uint32_t from, std::uint32_t to) const;

    /// Counts bytes, as they travel, on links of the way from one process to another.
    void carried(std::uint32_t from, std::uint32_t to, std::span<const std::uint32_t> links, std::uint64_t bytes);
    /// The links that carried any and can be full, in the order in which they were made.
    std::vector<LinkUse> uses() const;

    /// Whether between any two of these processes there is the same, and messages to different ones from different ones
    /// share nothing: on a flat fabric, each on a node of its own.
    bool pairs_alike(std::span<const std::uint32_t> processes) const;

    /// What messages may have to share: links, by their place among all, and behind them each process's copy engines.
    std::size_t resources() const { return links_.size() + places_.size(); }
    std::uint32_t copy_engines(std::uint32_t process) const {
        return static_cast<std::uint32_t>(links_.size()) + process;
    }
    double bandwidth_Bps(std::size_t resource) const {
        return resource < links_.size() ? links_[resource].bandwidth_Bps : std::numeric_limits<double>::infinity();
    }
    /// Appends those of which a message that `from` sends takes something from others, but for what its receiver
    /// copies.
    void append_shared(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                       std::vector<std::uint32_t>& numbers);

    /// All links, and by their place among them those from one process to another.
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
        bool shared = true;  ///< else every message has the whole bandwidth for itself
        std::uint64_t bytes = 0;
        /// The ends of the messages that brought it the most at once.
        std::uint32_t from = 0, to = 0;
        std::uint64_t most_bytes = 0;
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
    Wiring* wiring_ = nullptr;                // of a platform of our own; lives as long as the engine
    RoutedZone* zone_ = nullptr;
    std::vector<Known> links_;
    std::unordered_map<const simgrid::s4u::Link*, std::uint32_t> number_;  // of a native platform
};

}  // namespace syncline

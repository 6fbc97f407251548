#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/collective/protocol.hpp"
#include "sim/platform/faults.hpp"
#include "sim/platform/wiring.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/timeline.hpp"

/// The links of a cluster as messages between processes use them: routes, costs in addition to the bytes, and traffic.
namespace syncline {

/// The bandwidth of links that restrict nothing.
inline constexpr double unlimited_Bps = 1e18;

class Wires {
public:
    /// Processes are at `places`, channels are 0 … channels-1. Without `contention` every message has each link for
    /// itself, except on a native platform, which is loaded into the engine.
    Wires(const Cluster& cluster, const std::vector<Place>& places, std::uint32_t channels = 1, bool contention = true);
    virtual ~Wires() = default;
    Wires(const Wires&) = delete;
    Wires& operator=(const Wires&) = delete;

    const std::vector<Place>& places() const { return places_; }
    std::uint32_t channels() const { return channels_; }
    /// Returns null if the links are those of a modelled cluster.
    const NativeLinks* native() const { return native_.get(); }

    std::size_t links() const { return links_.size(); }
    const std::string& link_name(std::size_t link) const { return links_[link].name; }
    double link_latency_s(std::size_t link) const { return links_[link].latency_s; }
    bool in_fabric(std::uint32_t link) const { return wiring_ != nullptr && wiring_->in_fabric(link); }
    /// Returns false if every message has the link's whole bandwidth for itself.
    bool shared(std::size_t link) const { return links_[link].shared; }
    bool streams_wait() const { return latency_is_ours(network_); }
    bool latency_travels() const { return travels_; }
    /// Returns true if messages choose their path when they start: route_numbers() is then that of an idle fabric, or
    /// that of one with the given numbers of messages on its links.
    bool adapts() const { return adapts_; }
    /// Returns the links that have faults, by number.
    const std::vector<LinkRate>& link_rates() const { return link_rates_; }
    /// Returns true if messages avoid some links while these are down (Fault::rerouted). Then they choose their path
    /// when they start.
    bool reroutes() const { return around_ != nullptr; }
    /// Makes messages that choose their path from now on avoid a link, or not.
    void avoid(std::uint32_t link, bool avoided);
    bool avoids(std::uint32_t link) const { return !avoided_.empty() && avoided_[link]; }
    /// Returns true if packets of a message take different paths: route_numbers() has the links of all of them.
    bool sprays() const { return sprays_; }
    /// Returns the part of a message that each link of route_numbers() carries, if packets take different paths; empty:
    /// all of it.
    std::vector<double> parts(std::uint32_t from, std::uint32_t to) const;
    /// Returns true if the two ports alone decide the path between them: see Wiring.
    bool fixed_ways() const { return wiring_ == nullptr || wiring_->fixed_ways(); }
    /// Returns true if the route between two processes depends on the channel.
    bool routes_by_channel() const { return by_channel_; }

    const Transport& transport() const { return transport_; }
    /// Returns true if both processes are on one node, which determines the terms of their messages.
    bool inside_node(std::uint32_t from, std::uint32_t to) const { return in_same_node(places_[from], places_[to]); }
    const MessageTerms& terms(std::uint32_t from, std::uint32_t to) const {
        return inside_node(from, to) ? transport_.inside : transport_.between;
    }
    /// Returns data divided by bytes on the wires, of messages in this protocol.
    double factor(const Protocol& protocol, std::uint32_t from, std::uint32_t to) const {
        return protocol.factor(inside_node(from, to)) * terms(from, to).payload;
    }
    bool on_device(std::uint32_t process) const { return places_[process].on_device(); }
    /// Returns true if the process copies each message out of its device, or into it.
    bool copies_messages(std::uint32_t process) const {
        return transport_.staging.unit == Staging::Unit::message && on_device(process);
    }
    /// Returns the time of a copy between a process's device and the transport's buffers, in one direction.
    double staging_s(std::uint32_t process, std::uint64_t bytes) const;

    /// Throws ReplayError if the file of a native platform has no route from one process to the other and back, where
    /// SimGrid's own models send their acknowledgements: with a message SimGrid would end the process.
    void require_routes(std::uint32_t from, std::uint32_t to) const;

    /// Returns the time of a message between two processes in addition to its bytes, except for what SimGrid adds; the
    /// transport's latency is included.
    double latency_s(std::uint32_t from, std::uint32_t to, std::uint32_t channel) const;
    /// Returns the latency that a path has in addition to that of an idle fabric's route.
    double detour_s(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                    std::span<const std::uint32_t> path) const;
    /// Returns true if bytes take no time from one process to the other: over an unlimited loopback, and always in the
    /// Constant network model.
    bool weightless(std::uint32_t from, std::uint32_t to) const;

    /// Simulates one of several links that are alike, with the part of its bandwidth that the messages have for which
    /// simulated ones stand: see symmetry.hpp. `chosen`: by link, the simulated one, or no_link if no message uses it,
    /// or `passed` if routes count without it; `images`: of each message; `ways`: by ends, if links are passed. Then
    /// latency_s(), carried() and route_numbers() know messages of simulated senders only.
    static constexpr std::uint32_t no_link = ~std::uint32_t{0}, passed = no_link - 1;
    struct PassedLinks {
        double latency_s = 0;              ///< of each image of a message
        std::vector<std::uint32_t> links;  ///< of all images together
        std::uint64_t bytes = 0;           ///< carried by each image
    };
    using PassedWays = std::map<std::pair<std::uint32_t, std::uint32_t>, PassedLinks>;
    void represent(const std::vector<std::uint32_t>& chosen, std::uint32_t images, const PassedWays& ways);
    /// Returns true if messages on this link stand for several on it.
    bool stands_for_several(std::size_t resource) const {
        return resource < links_.size() && links_[resource].times > 1;
    }
    /// Counts bytes on the wires for links of the path from one process to another.
    void carried(std::uint32_t from, std::uint32_t to, std::span<const std::uint32_t> links, std::uint64_t bytes);
    /// Counts bytes on the wires for the links of its own path, also of a message that is not simulated.
    void carried_besides(std::uint32_t from, std::uint32_t to, std::uint32_t channel, std::uint64_t bytes);
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
        if (resource >= links_.size()) return std::numeric_limits<double>::infinity();
        const Known& link = links_[resource];
        return link.shared && link.bandwidth_Bps < unlimited_Bps ? link.bandwidth_Bps / link.times : link.bandwidth_Bps;
    }
    /// Appends the resources that a message sent by `from` shares with others, except for its receiver's copies.
    void append_shared(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                       std::vector<std::uint32_t>& numbers) const;

    /// Return all links, and the indices of the links from one process to another.
    std::vector<TracedLink> traced() const;
    std::vector<std::uint32_t> route_numbers(std::uint32_t from, std::uint32_t to, std::uint32_t channel = 0) const {
        return route_numbers(from, to, channel, {});
    }
    /// Virtual for the engine's module (engine.hpp).
    virtual std::vector<std::uint32_t> route_numbers(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                                                     std::span<const std::uint32_t> in_flight) const;

private:
    struct Known {
        std::string name;
        double bandwidth_Bps = 0;
        double latency_s = 0;
        bool shared = true;  ///< if false, every message has the whole bandwidth for itself
        std::uint64_t bytes = 0, besides = 0;
        double sprayed = 0;  ///< bytes in parts of messages
        /// The ends of the messages that contributed most bytes in one call.
        std::uint32_t from = 0, to = 0;
        std::uint64_t most_bytes = 0;
        bool several = false;     ///< messages between other ends, too
        std::uint32_t times = 1;  ///< number of its messages for which a simulated one stands
    };

    const std::vector<Place> places_;
    const NetworkModel network_;
    const bool travels_;
    const bool free_loopback_;
    const std::uint32_t channels_;
    bool by_channel_ = false, adapts_ = false, detours_ = false, sprays_ = false;
    const bool flat_;
    const Transport transport_;
    std::vector<double> host_link_Bps_;  ///< by process
    // One of the two is null.
    std::unique_ptr<Wiring> wiring_;
    std::unique_ptr<NativeLinks> native_;
    std::vector<Known> links_;
    std::vector<LinkRate> link_rates_;
    std::unique_ptr<Wiring> around_;     // without the links that are avoided; null if messages avoid none
    std::vector<bool> avoided_;          // by link; empty: none
    std::vector<std::uint32_t> chosen_;  // by link; empty: each for itself
    PassedWays passed_;                  // empty: no link is passed
};

}  // namespace syncline

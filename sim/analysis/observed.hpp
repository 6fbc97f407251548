#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/fidelity_choice.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/replay/replay.hpp"

/// Shared by the measurements of iterations and of collective operations.
namespace syncline {

/// One direction of a link during an iteration or an exchange.
struct LinkLoad {
    std::string name;
    std::uint64_t bytes = 0;
    double utilisation = 0;  ///< bytes divided by the link's capacity in that time
};

/// Returns the ten most utilised links in `seconds`, the most utilised first. Returns none with the network model in
/// which bytes take no time.
std::vector<LinkLoad> busiest(const Cluster& cluster, const std::vector<LinkUse>& uses, double seconds);

/// Returns a note if there are unused alternatives to the busiest link: "the busiest link … carries …, while … other
/// routes of the same length are unused (`routing.policy: …`)". Returns none otherwise. The routes are those of
/// LinkUse::unused_ways: equally short routes of the messages that load this link most, which avoid it and have a link
/// without a byte.
std::vector<std::string> unused_ways_note(const Cluster& cluster, const std::vector<LinkUse>& uses);

/// Returns notes about the faults of the platform: the range of the times of these iterations, if there are any, and
/// faults that begin only when the simulation has ended.
std::vector<std::string> fault_notes(const Cluster& cluster, double end_s, const std::vector<double>& iterations_s);

/// Returns the cluster with all its parts in order.
Cluster without_faults(Cluster cluster);

/// Called with the progress of a simulation and the number of messages that it will send.
using Watch = std::function<void(const Progress& progress, std::uint64_t expected_messages)>;

/// Replays `graph` in a process of its own.
Timeline watched_replay(const Cluster& cluster, const TaskGraph& graph, ReplayOptions options, const Watch& watch);

/// Returns the maximum over the ranks, which are the first processes; servers follow them.
std::uint64_t most(const std::vector<std::uint64_t>& by_process, std::int64_t ranks);

/// Returns the shape of the fabric as named in files, or the file of the native platform.
std::string fabric_of(const Cluster& cluster);

/// Returns the name of the transport, or "unnamed"; empty without a transport.
std::string transport_of(const Cluster& cluster);

/// Returns the shape of the overlay as named in files; empty without an overlay.
std::string overlay_of(const AlgorithmSpec& algorithm);

}  // namespace syncline

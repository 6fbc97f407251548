#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/fidelity.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/replay/replay.hpp"
#include "sim/training/plan.hpp"

/// What measurements of an iteration and of an exchange have in common.
namespace syncline {

/// A link, one direction of it, during an iteration or an exchange.
struct LinkLoad {
    std::string name;
    std::uint64_t bytes = 0;
    double utilisation = 0;  ///< bytes over what it could have carried in that time
};

/// The ten links with the highest utilisation in `seconds`, that first. None with the network model that takes no time
/// for bytes.
std::vector<LinkLoad> busiest(const Cluster& cluster, const std::vector<LinkUse>& uses, double seconds);

/// Says where the most used link has company that does nothing: "the most used link … carries …, while … ways as short
/// lie unused (`routing.policy: …`)". Nothing elsewhere. The ways are those of LinkUse::unused_ways: equal ways of the
/// messages that brought this link the most, which lead around it and have a link without a byte.
std::vector<std::string> unused_ways_note(const Cluster& cluster, const std::vector<LinkUse>& uses);

/// Told which simulation is under way, how many messages it has put, and how many it will.
using Watch = std::function<void(const Progress& progress, std::uint64_t expected_messages)>;

/// Replays in a process of its own.
Timeline watched_replay(const Cluster& cluster, const TaskGraph& graph, ReplayOptions options, const Watch& watch);

/// The most that a rank has: ranks are the first processes, servers come behind them.
std::uint64_t most(const std::vector<std::uint64_t>& by_process, std::int64_t ranks);

/// As files name them: the fabric's shape, or the native platform's file; the overlay's shape, or nothing.
std::string fabric_of(const Cluster& cluster);

/// The transport's name, or "unnamed"; empty where wires are all there is.
std::string transport_of(const Cluster& cluster);
std::string overlay_of(const AlgorithmSpec& algorithm);

}  // namespace syncline

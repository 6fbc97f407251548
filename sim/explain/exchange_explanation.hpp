#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/explain/what_if.hpp"

/// Explanation of a single collective operation: which resource bounds it, the least time that the links allow, and
/// what would change it.
///
/// Parts. A resource is made better by an eighth, f = 9/8, and the operation simulated again, with the time T' in place
/// of T. Where T is a sum of which one term is inversely proportional to the resource, that term is (T - T')·f/(f - 1).
/// Terms that overlap add up to more or less than the whole.
///
/// Least time. Ranks that exchange a buffer of S bytes must send at least, with n ranks, N nodes, and g ranks on a node
/// that has the most:
///
///     operation                   a rank          a node
///     all-reduce                  2S(n-1)/n       2S(N-1)/N
///     reduce-scatter, allgather   S(n-1)/n        S(N-1)/N
///     all-to-all                  S(n-1)/n        g·S(n-g)/n
///     broadcast, reduce           S               S          (the root, or what is sent to it)
///     scatter, gather             S(n-1)/n        S(n-g)/n   (the same)
///
/// A rank sends over the device's links in the node, and one port of it; a node over all its ports. The larger of both
/// times is the least, without latency. Sources: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for
/// clusters of workstations", J. Parallel Distrib. Comput. 69(2), 2009; E. Chan et al., "Collective communication",
/// Concurrency Comput. 19(13), 2007. Switches that add up data on its way may need less. Left out: links above the
/// ports, the payload of packets.
namespace syncline {

/// Part of the time that a resource takes.
struct ResourcePart {
    std::string resource;  ///< as in a Change
    std::string text;      ///< "bytes on links between nodes and fabric"
    double seconds = 0, share = 0;
};

/// The least time that links allow.
struct LeastTime {
    double seconds = 0;
    std::string of;                           ///< "the ports of a node", "the links of a device"
    std::optional<double> bus_bandwidth_Bps;  ///< the bus bandwidth at that time
};

struct ExchangeExplanation {
    std::string variant;
    CollectiveResult result;
    std::string answer;               ///< one sentence without a full stop: the bound, and the best possible
    std::vector<ResourcePart> parts;  ///< the largest first
    /// Empty for operations without a formula, and on a platform in SimGrid's format.
    std::optional<LeastTime> least;
    std::vector<WhatIf> what_if;  ///< resources and other algorithms, the largest gain first
};

/// Returns the least time of an operation on a cluster; empty without one.
std::optional<LeastTime> least_time(const Cluster& cluster, const CollectivePlan& plan);

/// Simulates a plan for its own size, without a sweep. `changes`: also simulated;
/// `others`: without changes, each
/// resource twice as good, and the three best of the operation's other algorithms.
ExchangeExplanation explain_exchange(const Cluster& cluster, const CollectivePlan& plan,
                                     const std::vector<Change>& changes, bool others, const Watch& watch = {});

}  // namespace syncline

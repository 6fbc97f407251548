#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"

/// What-if analysis: the same training simulated again with one resource changed, "RESOURCE xFACTOR": the factor
/// multiplies bandwidths, speeds and the batch, and also the times of `latency` and `transport`. Resources:
///   device      peak FLOP/s; measured layer times scale with it
///   memory      bandwidth of the devices' memory, and the reduction rate if that is the default
///   link:nic    bandwidth between a node and the fabric: its ports, and the cables of the fabric's lowest level
///   link:fabric bandwidth of the fabric's higher levels
///   link:node   bandwidth inside a node
///   latency     latency of all links and of the transport
///   transport   message overheads, launches, queries, staging latencies; divides the total send rate of a node. Not
///               changed: the bandwidth of a connection by size, and the costs of protocols
///   batch       samples per rank: in a pipeline or with several microbatches their number, as users do, if it stays
///               whole; else their size
/// For a calibrated device, the ratio of the measured time to the roofline stays the same.
namespace syncline {

struct Change {
    std::string resource;
    double factor = 1;
};

/// Parses "link:nic x2". Throws std::invalid_argument with the error and the list of resources.
Change parse_change(const std::string& text);

/// Formats a change as "link:nic x2", which parses to the same change.
std::string text_of(const Change& change);

/// Describes a change: "links between nodes and fabric have 2 times the bandwidth".
std::string description_of(const Change& change);

/// Returns a cluster with one resource changed. Throws std::invalid_argument if it has no such resource.
Cluster changed_cluster(const Cluster& cluster, const Change& change);

/// Returns the default changes: each resource twice as good.
std::vector<Change> every_change();

/// Returns changes of a plan that often help, as WhatIf::change: slices on parameter servers ("servers.placement
/// sliced") and overlap ("overlap wait-free"), where the plan has neither.
std::vector<std::string> plan_changes(const Plan& plan);

/// Compares each change with `base`, the result without changes; the largest gain in throughput first.
std::vector<WhatIf> what_if(const Lowered& training, const Result& base, const std::vector<Change>& changes,
                            const std::vector<std::string>& of_plan = {}, const Watch& watch = {});

}  // namespace syncline

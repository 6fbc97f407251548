#pragma once

#include <cstdint>
#include <optional>

#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// What an iteration, or an exchange alone, takes of the machine, and what that costs.
///
/// cost = nodes · price of a node per hour · seconds / 3600, in the price's currency. A node is paid for as a whole,
/// however many of its devices have ranks, and so is one that has servers alone. Left out: nodes that stand by, starts
/// and ends of trainings, storage, traffic, discounts.
namespace syncline {

struct Cost {
    std::int64_t nodes = 0;      ///< that have ranks or servers
    double device_time_s = 0;    ///< ranks · seconds
    std::optional<double> cost;  ///< nothing where nodes have no price

    /// Plans differ in how many samples an iteration takes: what to compare them by.
    std::optional<double> per_million_samples(std::int64_t samples) const;
};

/// Of `seconds` in which `graph` is replayed.
Cost cost_of(const Cluster& cluster, const TaskGraph& graph, std::int64_t ranks, double seconds);

}  // namespace syncline

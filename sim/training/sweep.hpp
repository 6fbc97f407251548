#pragma once

#include <cstdint>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/chooser.hpp"
#include "sim/training/plan.hpp"

/// One exchange alone, or the same at several sizes, without computation.
///
/// Sizes run one after the other. Between two stands a barrier that costs nothing: no rank starts a size before all are
/// through with the one before, so that each takes what it would take alone.
namespace syncline {

struct Sweep {
    TaskGraph graph;
    /// One before each size and one behind the last: size i takes from the end of barrier i to that of barrier i+1.
    /// Empty for one rank, which exchanges nothing.
    std::vector<TaskId> barriers;
};

/// The sizes of the plan's sweep, or its one size.
std::vector<std::uint64_t> sizes_of(const CollectivePlan& plan);

/// By size. Empty for a parameter server.
std::vector<Chosen> choose_exchanges(const Cluster& cluster, const CollectivePlan& plan);

/// `chosen` is what choose_exchanges gave.
Sweep build_sweep(const Cluster& cluster, const CollectivePlan& plan, const std::vector<Chosen>& chosen);

}  // namespace syncline

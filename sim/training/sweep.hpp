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
///
/// Where peers change from round to round an iteration of the graph is a round: `rounds` iterations are a whole period,
/// with the same barriers between them, so that their mean is that of the rounds alone.
namespace syncline {

struct Sweep {
    TaskGraph graph;
    /// One before each size and one behind the last: size i takes from the end of barrier i to that of barrier i+1.
    /// Empty for one rank, which exchanges nothing.
    std::vector<TaskId> barriers;
    std::uint32_t rounds = 1;  ///< after so many iterations programs are the same again
};

/// The sizes of the plan's sweep, or its one size.
std::vector<std::uint64_t> sizes_of(const CollectivePlan& plan);

/// By size; the plan's round of them, if it names one. Empty for a parameter server.
std::vector<Chosen> choose_exchanges(const Cluster& cluster, const CollectivePlan& plan);

/// `chosen` is what choose_exchanges gave.
Sweep build_sweep(const Cluster& cluster, const CollectivePlan& plan, const std::vector<Chosen>& chosen);

}  // namespace syncline

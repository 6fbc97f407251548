#pragma once

#include <cstdint>
#include <vector>

#include "sim/lowering/chooser.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// A single exchange, or the same at several sizes, without computation. Sizes run one after the other, separated by
/// barriers that cost nothing. If peers change from round to round, an iteration of the graph is a round: `rounds`
/// iterations are a whole period, with the same barriers between them.
namespace syncline {

struct Sweep {
    TaskGraph graph;
    /// One barrier before each size and one after the last: size i takes from the end of barrier i to that of barrier
    /// i+1. Empty for a single rank, which exchanges nothing.
    std::vector<TaskId> barriers;
    std::uint32_t rounds = 1;  ///< number of iterations after which programs repeat
};

/// Returns the sizes of the plan's sweep, or its one size.
std::vector<std::uint64_t> sizes_of(const CollectivePlan& plan);

/// Returns the algorithms by size, for the plan's round if it names one. Empty for a parameter server.
std::vector<Chosen> choose_exchanges(const Cluster& cluster, const CollectivePlan& plan);

/// Returns the number of rounds after which the programs of all of them repeat.
std::uint32_t rounds_of(const std::vector<Chosen>& chosen);

/// Returns rotations that take ranks to ranks with equal tasks, as alike_ranks() does. Every rotation takes the one
/// group to itself; there is none with servers or switches, which have other tasks.
std::vector<Rotation> alike_ranks(const CollectivePlan& plan, const std::vector<Chosen>& chosen);

/// `chosen` is the result of choose_exchanges. With `rotations` among alike_ranks() only ranks that stand for others
/// take part: see TaskGraph::represent(). The barriers, at which all of them wait, are rank 0's.
Sweep build_sweep(const Cluster& cluster, const CollectivePlan& plan, const std::vector<Chosen>& chosen,
                  const Rotations& rotations = {});

}  // namespace syncline

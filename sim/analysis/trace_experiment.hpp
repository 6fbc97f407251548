#pragma once

#include "sim/analysis/experiment.hpp"
#include "sim/plan/trace_plan.hpp"

/// Simulation of an execution trace (sim/iteration/trace_graph.hpp), once, from a standing start. The result is that of
/// a training without what a trace does not know: samples, memory, closed form, efficiency.
namespace syncline {

/// Replays a graph that build_trace() made of `plan`. Of `recorded`, only `messages` and `contention` are used. Throws
/// ReplayError if messages wait for each other.
ReplayedIteration replay_trace(const Cluster& cluster, const TracePlan& plan, TaskGraph graph, const Watch& watch = {},
                               const ReplayOptions& recorded = {});

Result result_of(const Cluster& cluster, const TracePlan& plan, const ReplayedIteration& replayed);

/// Replays `plan` and returns its result.
Result simulate(const Cluster& cluster, const TracePlan& plan, const Watch& watch = {});

}  // namespace syncline

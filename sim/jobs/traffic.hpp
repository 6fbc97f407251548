#pragma once

#include "sim/plan/jobs_plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Background traffic as a task graph, whose iterations are messages.
///
/// A sender's messages follow one another; with a rate r, message i (from 1) of b bytes starts at i·b/r, or when the
/// one before it has ended. Flows of `poisson` are independent of each other: their starts are a Poisson process of
/// rate n·r/b over n devices, sender and receiver are drawn evenly, and sizes are b, or have a Pareto distribution of
/// mean b: with shape a and u drawn evenly from (0, 1], b·(a-1)/a · u^(-1/a). Left out: congestion control; flows share
/// links as all messages do.
namespace syncline {

TaskGraph traffic_graph(const Cluster& cluster, const TrafficPlan& plan);

}  // namespace syncline

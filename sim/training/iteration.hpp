#pragma once

#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/buckets.hpp"
#include "sim/training/chooser.hpp"
#include "sim/training/plan.hpp"
#include "sim/workload/model.hpp"

/// One synchronous data-parallel iteration as a task graph.
///
/// Each rank: forward layer by layer, backward from last to first; gradients exchanged in buckets (see Overlap,
/// Fusion); then the update, which ends the iteration: the next forward pass starts after it. With
/// Overlap::across_iterations the update waits for no exchange, and marks the end of the backward pass. The update
/// itself takes no time of its own (it is within a calibrated throughput). The input batch of the next iteration is
/// copied beside this one (`overlapped`), or its own before it. One rank alone exchanges nothing, so it is the
/// reference for scaling.
namespace syncline {

TaskGraph build_iteration(const Cluster& cluster, const Model& model, const Plan& plan);

/// Seconds of the host-to-device copy of one rank's batch; 0 if the plan has none.
double input_copy_seconds(const Cluster& cluster, const Model& model, const Plan& plan);

/// The buckets of an iteration, in the order in which they are released; none of one rank alone.
std::vector<Bucket> plan_buckets(const Cluster& cluster, const Model& model, const Plan& plan);

/// What carries out the exchange of each bucket: of an all-reduce or gossip, not of a parameter server.
std::vector<Chosen> choose_exchanges(const Cluster& cluster, const Plan& plan, const std::vector<Bucket>& buckets);

}  // namespace syncline

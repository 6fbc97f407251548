#pragma once

#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/arrangement.hpp"
#include "sim/training/buckets.hpp"
#include "sim/training/chooser.hpp"
#include "sim/training/plan.hpp"
#include "sim/workload/model.hpp"

/// One synchronous iteration as a task graph.
///
/// Each rank runs its forward and backward passes (passes.hpp); ranks that hold the same weights exchange their
/// gradients in buckets (see Overlap, Fusion, Sharding) when the gradients of the last micro-batch are ready; then
/// comes the update, which ends the iteration: the next forward pass starts after it. With Overlap::across_iterations
/// the update waits for no exchange, and marks the end of the backward pass. The update takes no time (it is included
/// in a calibrated throughput). The input batch is copied to the ranks of the first stage, either for the next
/// iteration during this one (`overlapped`) or before the iteration that uses it. A single rank exchanges nothing, so
/// it is the reference for scaling.
///
/// Throws ParallelismError if the model cannot be split as planned.
namespace syncline {

TaskGraph build_iteration(const Cluster& cluster, const Model& model, const Plan& plan);

/// Returns the seconds of the host-to-device copy of the input of one rank's first layer; 0 if the plan has no copy.
double input_copy_seconds(const Cluster& cluster, const Model& model, const Plan& plan, const Arrangement& arrangement);

/// Returns the buckets of an iteration, in the order of their release, stage by stage; none for ranks that have no peer
/// to exchange with. The times at which gradients are ready are known only if every rank has the whole model.
std::vector<Bucket> plan_buckets(const Cluster& cluster, const Model& model, const Plan& plan);

/// Returns the algorithm for the exchange of each bucket, for an all-reduce or gossip, not for a parameter server. With
/// Parallelism::sharding it is a reduce-scatter, which an allgather may follow.
std::vector<Chosen> choose_exchanges(const Cluster& cluster, const Plan& plan, const std::vector<Bucket>& buckets);

/// Consecutive buckets that are exchanged among the same ranks: [first, end).
struct BucketRun {
    std::size_t first = 0, end = 0;
};
std::vector<BucketRun> runs_of(const std::vector<Bucket>& buckets);

}  // namespace syncline

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
/// Each rank takes its forward and backward passes (passes.hpp); ranks that hold the same weights exchange their
/// gradients in buckets (see Overlap, Fusion, Sharding) when the last micro-batch's are there; then the update, which
/// ends the iteration: the next forward pass starts after it. With Overlap::across_iterations the update waits for no
/// exchange, and marks the end of the backward pass. The update itself takes no time of its own (it is within a
/// calibrated throughput). The input batch of the next iteration is copied beside this one (`overlapped`), or its own
/// before it, to the ranks of the first stage. One rank alone exchanges nothing, so it is the reference for scaling.
///
/// Throws ParallelismError where the model cannot be split in the plan's way.
namespace syncline {

TaskGraph build_iteration(const Cluster& cluster, const Model& model, const Plan& plan);

/// Seconds of the host-to-device copy of what one rank's first layer takes in; 0 if the plan has none.
double input_copy_seconds(const Cluster& cluster, const Model& model, const Plan& plan, const Arrangement& arrangement);

/// The buckets of an iteration, in the order in which they are released, stage by stage; none of ranks with nobody to
/// exchange with. When gradients are ready is only known where every rank has the whole model.
std::vector<Bucket> plan_buckets(const Cluster& cluster, const Model& model, const Plan& plan);

/// What carries out the exchange of each bucket: of an all-reduce or gossip, not of a parameter server. With
/// Parallelism::sharding a reduce-scatter, behind which an allgather may follow.
std::vector<Chosen> choose_exchanges(const Cluster& cluster, const Plan& plan, const std::vector<Bucket>& buckets);

/// Buckets that follow each other and are exchanged among the same ranks: [first, end).
struct BucketRun {
    std::size_t first = 0, end = 0;
};
std::vector<BucketRun> runs_of(const std::vector<Bucket>& buckets);

}  // namespace syncline

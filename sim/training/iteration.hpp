#pragma once

#include "sim/taskgraph/task_graph.hpp"
#include "sim/training/lowered.hpp"

/// One synchronous iteration as a task graph.
///
/// Each rank takes its forward and backward passes (passes.hpp); ranks that hold the same weights exchange their
/// gradients in buckets (see Overlap, Fusion, Sharding) when the last micro-batch's are there; then the update, which
/// ends the iteration: the next forward pass starts after it. With Overlap::across_iterations the update waits for no
/// exchange, and marks the end of the backward pass. The update itself takes no time of its own (it is within a
/// calibrated throughput). The input batch of the next iteration is copied beside this one (`overlapped`), or its own
/// before it, to the ranks of the first stage. One rank alone exchanges nothing, so it is the reference for scaling.
namespace syncline {

TaskGraph build_iteration(const Lowered& training);

}  // namespace syncline

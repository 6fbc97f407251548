#pragma once

#include "sim/lowering/lowered.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// One synchronous iteration as a task graph.
///
/// With sharded weights a group's gatherings and its exchanges of gradients are one after the other, in the order in
/// which PyTorch's FSDP issues them (BackwardPrefetch.BACKWARD_PRE in torch/distributed/fsdp/api.py: "For NCCL backend,
/// any collectives … contend for the same per-device NCCL stream").
///
/// Each rank runs its forward and backward passes (passes.hpp); ranks that hold the same weights exchange their
/// gradients in buckets (see Overlap, Fusion, Sharding) when the gradients of the last microbatch, or of each one
/// (gradient_sync.hpp), are ready; then comes the update, which ends the iteration: the next forward pass starts after
/// it. With Overlap::across_iterations the update waits for no exchange, and marks the end of the backward pass. The
/// update takes no time. The optimizer's step (optimizer_step.hpp) comes before it, and before weights are gathered
/// that are updated in shares, at the iteration's end or at its start (Gather); it is a task where its time is known (a
/// calibrated throughput includes it). The input batch is copied to the ranks of the first stage, either for the next
/// iteration during this one (`overlapped`) or before the iteration that uses it. A single rank exchanges nothing, so
/// it is the reference for scaling.
namespace syncline {

TaskGraph build_iteration(const Lowered& training);

/// Builds only the ranks that stand for others under these rotations, of which alike.hpp says what they may be. With
/// Fidelity::folded and Fidelity::averaged, exchanges may be larger by a millionth of the model, so that their blocks
/// are equal. Then exchanges that share links stay in step which would otherwise drift apart: in trials times changed
/// by up to 0.8 %.
TaskGraph build_representatives(const Lowered& training, const Rotations& rotations);

}  // namespace syncline

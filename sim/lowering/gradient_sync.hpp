#pragma once

#include <cstdint>

#include "sim/lowering/arrangement.hpp"

/// Gradient synchronisation: how often an iteration of several microbatches exchanges its gradients.
///
/// Where ranks keep shards of the gradients, frameworks reduce and scatter them in the backward pass of every
/// microbatch, and add them up in the shards:
/// - PyTorch's FSDP (torch/distributed/fsdp/_runtime_utils.py, _post_backward_hook) unless the program asks for
///   no_sync(), which Composer does with DistributedDataParallel only (composer/distributed/dist_strategy.py,
///   ddp_sync_context), and torchtitan never (torchtitan/train.py, train_step).
/// - DeepSpeed with ZeRO-2 and 3, which refuses no_sync() (deepspeed/runtime/engine.py, no_sync).
/// - Megatron-Core (megatron/core/distributed/custom_fsdp/fully_sharded_data_parallel.py, grad_reduce_every_bprop: with
///   the strategies optim_grads and optim_grads_params; else in the last microbatch).
///
/// The next microbatch begins on a rank when its exchanges of this one have ended (PyTorch:
/// _post_backward_final_callback, of FSDP2 _root_post_backward_final_callback, _root_pre_forward; DeepSpeed:
/// independent_gradient_partition_epilogue). So m microbatches take as long as m iterations of one, but for the
/// optimizer's step and weights that are gathered after it. A pipeline exchanges gradients after the last microbatch
/// (torch/distributed/pipelining/stage.py, backward_maybe_with_nosync; DeepSpeed refuses pipelines with ZeRO-2 and 3).
///
/// Additions to the shards are in accumulation.hpp. Left out: all-reduces of shards in the last microbatch alone
/// (Megatron-Core's, FSDP2's set_requires_all_reduce); microbatches whose exchanges overlap with the next one (a
/// MegatronFSDP without sync_model_each_microbatch).
namespace syncline {

/// Returns the number of times that an iteration exchanges the gradients of each bucket: 1, or that of microbatches.
std::uint32_t gradient_syncs(const Plan& plan, const Arrangement& arrangement);

}  // namespace syncline

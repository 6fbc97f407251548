#pragma once

#include "sim/lowering/lowered.hpp"
#include "sim/platform/cluster.hpp"

/// Time of the optimizer's step, after the exchange of gradients.
///
/// The step does little arithmetic: its time is that of the bytes that it moves at the measured bandwidth of the memory
/// that has them. For each weight that a rank updates, with gradients (or their buffer, Precision::accumulation) of g
/// bytes, weights of w bytes, a master copy of c bytes, and n values that the optimizer keeps,
///
///     clipping  3·g                      if gradients are clipped
///     update    g + 2·(1 + n)·c + w    with a master copy (P. Micikevicius et al., "Mixed precision training", 2018)
///               g + 2·(1 + n)·w        without one (c = 0)
///
/// Gradients are read for their norm, read and written when they are clipped to it (R. Pascanu et al., ICML 2013; as in
/// Megatron-LM's clip_grads.py and PyTorch's clip_grad_norm_), and read by the step, which reads and writes the master
/// copy and all kept values in one pass, and writes the weights (NVIDIA apex, multi_tensor_adam). With Sharding a rank
/// updates its shard.
///
/// The device's table of memory-bound kernels, if it has one, gives the time of the update (pointwise_table.hpp).
///
/// What the device does takes time only with the compute model `tables`: a measured throughput includes it, and a
/// roofline has no step. With Offload (offload.hpp) the update is in the host's memory, of which each rank of the node
/// has an equal share, and g and w bytes are copied to the host and back; the gradients are clipped where they are.
/// DeepSpeed's CPU-Adam of ZeRO-Offload passes once over the same data (section 5.1 there).
///
/// Left out: the exchange of the norm, gradients that are scaled for fp16, or copied to another precision before the
/// step, or cleared after it; optimizers whose kernels are not fused, as PyTorch's on a host, which takes five to six
/// times as long (ZeRO-Offload, table 4); servers, which update the weights themselves.
namespace syncline {

/// Bytes that clipping and the step move for each weight. With Offload::gradients they are copied to the host before
/// the step.
struct StepBytes {
    double clipping = 0;   ///< in the device's memory
    double update = 0;     ///< in the device's memory
    double to_host = 0;    ///< to the host
    double host = 0;       ///< in the host's memory
    double to_device = 0;  ///< back
};

StepBytes step_bytes(const Plan& plan, const Model& model);

/// Returns the time of the step on a rank of this stage. Parts that are not known take none.
StepTime step_time(const Lowered& training, std::uint32_t stage);

}  // namespace syncline

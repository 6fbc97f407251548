#pragma once

#include "sim/lowering/lowered.hpp"
#include "sim/platform/cluster.hpp"

/// Time of the optimizer's step, after the exchange of gradients: that of the bytes that it moves at the measured
/// bandwidth of the memory that has them, or the device's table of memory-bound kernels (pointwise_table.hpp). For each
/// weight that a rank updates (its shard, with Sharding), with gradients (or their buffer, Precision::accumulation) of
/// g bytes, weights of w bytes, a master copy of c bytes, and n values that the optimizer keeps,
///
///     clipping  3·g                      if gradients are clipped
///     update    g + 2·(1 + n)·c + w    with a master copy (P. Micikevicius et al., "Mixed precision training", 2018)
///               g + 2·(1 + n)·w        without one (c = 0)
///
/// Gradients are read for their norm, read and written when they are clipped to it (R. Pascanu et al., ICML 2013;
/// Megatron-LM's clip_grads.py, PyTorch's clip_grad_norm_), and read by the step, which reads and writes the master
/// copy and all kept values in one pass, and writes the weights (NVIDIA apex, multi_tensor_adam).
///
/// On the device it takes time only with the compute model `tables`. With Offload (offload.hpp) the update is in the
/// host's memory, of which each rank of the node has an equal share, and g and w bytes are copied; the gradients are
/// clipped where they are (DeepSpeed's CPU-Adam, section 5.1 there).
///
/// Left out: the exchange of the norm, gradients that are scaled for fp16, copied to another precision or cleared;
/// optimizers whose kernels are not fused, as PyTorch's on a host, which takes five to six times as long (ZeRO-Offload,
/// table 4); servers, which update the weights themselves.
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

/// Returns the time of the step on a rank of this stage with this device. Parts that are not known take none.
StepTime step_time(const Lowered& training, std::uint32_t stage, const Device& device);

}  // namespace syncline

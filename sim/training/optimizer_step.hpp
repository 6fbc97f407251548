#pragma once

#include "sim/platform/cluster.hpp"
#include "sim/training/lowered.hpp"

/// Time of the optimizer's step, after the exchange of gradients.
///
/// The step does little arithmetic: its time is that of the bytes that it moves at the device's measured memory
/// bandwidth. For each weight that a rank updates, with gradients (or their buffer, Precision::accumulation) of g
/// bytes, weights of w bytes, a master copy of c bytes, and n values that the optimizer keeps,
///
///     4·g + 2·(1 + n)·c + w        with a master copy (P. Micikevicius et al., "Mixed precision training", ICLR 2018)
///     4·g + 2·(1 + n)·w            without one (c = 0)
///
/// Gradients are read for their norm, read and written when they are clipped to it (R. Pascanu et al., ICML 2013; as in
/// Megatron-LM's clip_grads.py and PyTorch's clip_grad_norm_), and read by the step, which reads and writes the master
/// copy and all kept values in one pass, and writes the weights (NVIDIA apex, multi_tensor_adam). With Sharding a rank
/// updates its shard.
///
/// It is known only with the compute model `tables`: a measured throughput includes it, and a roofline has no step.
///
/// Left out: the exchange of the norm, gradients that are scaled for fp16, or copied to another precision before the
/// step, or cleared after it; optimizers whose kernels are not fused; servers, which update the weights themselves.
namespace syncline {

/// Returns the bytes that the step moves for each weight.
double step_bytes_per_weight(Optimizer optimizer, const Model& model);

/// Returns the time of the step on a rank of this stage. 0 if it is not known.
double step_seconds(const Lowered& training, std::uint32_t stage);

}  // namespace syncline

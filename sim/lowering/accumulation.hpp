#pragma once

#include "sim/lowering/arrangement.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"

/// Time of adding the gradients of a microbatch to those of the ones before it.
///
/// PyTorch computes the gradient of a weight of w bytes in w bytes, and adds it to a buffer of b bytes (AccumulateGrad
/// in torch/csrc/autograd/functions/accumulate_grad.h): w + 2b bytes through the device's memory; b is
/// Precision::accumulation, or the size of a gradient. If b = w, m microbatches have m-1 additions, a mean of (m-1)/m
/// each, else m. Where gradients are reduced and scattered for each microbatch (gradient_sync.hpp), a rank adds up its
/// shard (w = b), for which other elements are converted first, w + b bytes each (PyTorch's FSDP,
/// torch/distributed/fsdp/_runtime_utils.py, _reduce_grad; Megatron-Core's, fully_sharded_data_parallel.py, _grad_acc:
/// main_grad.copy_).
///
/// Accumulation::fused (Megatron-LM's `gradient_accumulation_fusion`): the product that computes a gradient adds it,
/// and moves 2b bytes in place of w (Software::accumulated_bytes). Only the compute model `tables` has this time.
namespace syncline {

/// Returns what a product moves for each element of a gradient that it adds to the buffer: b read, b written; 0 if it
/// adds none.
double accumulated_bytes(const Model& model, const Plan& plan);

/// Adds that time to the gradients of the layer's weights.
void accumulate_gradients(const Device& device, const Model& model, const Plan& plan, PlacedLayer& placed);

}  // namespace syncline

#pragma once

#include "sim/lowering/arrangement.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"

/// Time of adding the gradients of a micro-batch to those of the ones before it.
///
/// PyTorch computes the gradient of a weight of w bytes in w bytes, and adds it to a buffer of b bytes (AccumulateGrad
/// in torch/csrc/autograd/functions/accumulate_grad.h), which moves w + 2b bytes through the device's memory. b is
/// Precision::accumulation, or the size of a gradient. If b = w, the first micro-batch's gradient is the buffer, so
/// that m micro-batches have m-1 additions, a mean of (m-1)/m each; if not, they have m. Where gradients are reduced
/// and scattered for each micro-batch (gradient_sync.hpp), a rank adds up its shard, which arrives with the buffer's
/// elements (w = b). If gradients have others, they are converted before, which moves w + b bytes for each of their
/// elements (PyTorch's FSDP, torch/distributed/fsdp/_runtime_utils.py, _reduce_grad: a copy in the reduction's
/// elements; Megatron-Core's, fully_sharded_data_parallel.py, _grad_acc: main_grad.copy_).
///
/// With Accumulation::fused the product that computes a gradient adds it (Megatron-LM's
/// `gradient_accumulation_fusion`): it moves 2b bytes in place of w, for which only a product with few rows, such as
/// that of an expert, has to wait (Software::accumulated_bytes).
///
/// As the optimizer's step (optimizer_step.hpp), it takes time only with the compute model `tables`, at the measured
/// bandwidth of the device's memory.
namespace syncline {

/// Returns what a product moves for each element of a gradient that it adds to the buffer: b read, b written; 0 if it
/// adds none.
double accumulated_bytes(const Model& model, const Plan& plan);

/// Adds that time to the gradients of the layer's weights.
void accumulate_gradients(const Device& device, const Model& model, const Plan& plan, PlacedLayer& placed);

}  // namespace syncline

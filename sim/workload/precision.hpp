#pragma once

#include <optional>

#include "sim/platform/factors.hpp"

/// Sizes of elements in mixed precision, in bytes; by default the model's element size. They determine what exchanges
/// carry, what a device's memory must hold and, with measured rates of kernels (compute_model.hpp), the rates of
/// products and what kernels move; other compute models have the device's `flops` and the model's element size. Source:
/// P. Micikevicius et al., "Mixed precision training", ICLR 2018. Left out: the scaling of the loss.
namespace syncline {

struct Precision {
    std::optional<double> weights, gradients, activations;  ///< nothing: the model's element size
    /// Copy of the weights on which the optimizer works. 0: none; nothing: 4 bytes if weights are smaller.
    std::optional<double> master;
    /// Buffer beside the gradients, in which those of several microbatches are added up; 0: none. DeepSpeed's
    /// BF16_Optimizer (deepspeed/runtime/bf16_optimizer.py) and nanotron's FP32GradientAccumulator beside the buckets
    /// of PyTorch's DistributedDataParallel have 4 bytes. Exchanges carry gradients of their own size.
    double accumulation = 0;
    /// Factors of products; nothing: PyTorch's defaults (factors_wanted in compute_model.hpp). Factors of 8 and 4 bits
    /// apply to products with weights inside a transformer's layers (P. Micikevicius et al., "FP8 formats for deep
    /// learning", 2022; NVIDIA Transformer Engine), not to attention's core, a router, an embedding or the head. Left
    /// out: layers that a recipe keeps in 16 bits, and what it adds to casts, as Hadamard transforms.
    std::optional<Factors> products = std::nullopt;
    /// Weights, their gradients and the sums between layers in 4 bytes, products in 2 (torch.autocast).
    bool autocast = false;
    /// Each moment of the optimizer; nothing: as the weights that it updates. 2 bytes with Megatron-Core's
    /// --exp-avg-dtype bf16, torchtitan's state of bf16, and DeepSeek-V3 (section 3.3.1).
    std::optional<double> moments = std::nullopt;

    /// Returns weights, gradients and activations in 2 bytes, the master copy in 4.
    static Precision mixed() {
        Precision precision;
        precision.weights = precision.gradients = precision.activations = 2;
        precision.master = 4;
        return precision;
    }
    static Precision automatic() {
        Precision precision;
        precision.weights = precision.gradients = 4;
        precision.activations = 2;
        precision.master = 0;
        precision.autocast = true;
        return precision;
    }
    bool given() const {
        return weights || gradients || activations || master || products || moments || autocast || accumulation > 0;
    }
};

}  // namespace syncline

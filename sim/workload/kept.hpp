#pragma once

#include <cstdint>
#include <optional>

#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// Memory that a layer keeps from its forward pass until its backward pass has used it, in bytes on one rank; e is the
/// size of an element, and a dropout mask takes one byte per element.
///
/// Convolution, dense and custom layers keep their inputs, with all channels; a normalisation after a convolution keeps
/// its own inputs, the channels that the rank has computed. The loss after a dense layer whose outputs stay split
/// (Dense::gathered) keeps them in 4 bytes.
///
/// A transformer's layer has s positions, width h and a heads (V. Korthikanti et al., "Reducing activation
/// recomputation in large transformer models", MLSys 2023, section 4). Attention keeps, for the rank's part of the
/// heads, queries, keys, values and the projection's input, 4·s·h·e; whole on every rank the normalisation's input, the
/// input of the queries, and the mask after the projection, s·h·(2e + 1). Scores::stored also keeps, for the part of
/// the heads, the softmax's result, the same after its dropout, and that dropout's mask, a·s²·(2e + 1); flash attention
/// does not (T. Dao et al., NeurIPS 2022, section 3.1). Feed-forward keeps, for the rank's part of the hidden units,
/// the inputs of GELU and of the second layer, 2·s·hidden·e; whole s·h·(2e + 1). With e = 2, hidden = 4h and t ranks
/// both halves keep s·h(10 + 24/t + 5as/(ht)) with stored scores, and s·h(10 + 24/t) without; with sequence parallelism
/// s·h/t·(34 + 5as/h). An embedding keeps the mask of the dropout after it, s·h, which is divided too.
///
/// Other shapes: keys and values of fewer heads are smaller, a gated layer keeps three vectors of hidden units, no
/// dropout no masks, no normalisation only the input of the first matrix, a window fewer scores; latent vectors are
/// kept before and after their normalisation; a parallel block keeps its input once. A layer of experts keeps the
/// inputs of its normalisation and router, the router's E probabilities in 4 bytes, and for each of a token's K experts
/// (times the capacity) the input, the hidden units and the output. Saved says where a framework keeps more.
///
/// Left out: layers without parameters (activation functions work in place), the edges of images that neighbours send,
/// statistics of normalisations and of flash attention's softmax (4·a·s bytes), the tokens' numbers. Inputs that two
/// layers read, such as at the start of a residual branch, are counted twice.
namespace syncline {

/// Choices of a framework that make its layers keep more.
struct Saved {
    /// With sequence parallelism a matrix keeps its inputs whole, as they were gathered: plain autograd on a gathered
    /// tensor. Megatron-LM gathers again (LinearWithGradAccumulationAndAsyncCommunication in
    /// megatron/core/tensor_parallel/layers.py); nanotron does either (`tp_recompute_allgather`). Layers of experts
    /// gather again.
    bool gathered = false;
    /// A gated layer also keeps its activation function's result, four vectors of hidden units: two kernels
    /// (GLUActivation in src/nanotron/models/llama.py), not one (megatron/core/fusions/fused_bias_swiglu.py). Nothing:
    /// by Plan::elementwise.
    std::optional<bool> gate = {};
    /// Gradients have buffers that stay between iterations, as in DistributedDataParallel. Without, they go after the
    /// optimizer's step: zero_grad(set_to_none=True), PyTorch's default since 2.0.
    bool gradients = true;
    /// Bytes per logit while the loss is computed; nothing: logits, and a softmax of 4 bytes
    /// (megatron/core/tensor_parallel/cross_entropy.py), which alone is kept. PyTorch's cross_entropy has 4 + 4 + 4
    /// backward (log-softmax, gradients), nanotron's sharded_cross_entropy 2 + 4 + 4 + 4 forward. A loss in n chunks of
    /// positions, each with its backward pass, has 1/n of it (Liger-Kernel's fused linear cross entropy, torchtitan's
    /// chunked loss).
    std::optional<double> logit_bytes = {};
};

/// `sequence_ranks`: number of ranks among which positions are divided between the halves of a transformer's layers; 1
/// without sequence parallelism.
double kept_bytes(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks = 1,
                  const Saved& saved = {});

/// Returns the same if attention's core is computed again: without the softmax's result, the same after its dropout,
/// and its mask.
double kept_without_scores(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks = 1,
                           const Saved& saved = {});

/// Returns the same if every second product is computed again, and all that is between products: see alternate.hpp. The
/// input of a block is counted with its attention half. Other layers keep what they keep otherwise.
double kept_by_operator(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks = 1,
                        const Saved& saved = {});

/// Returns the bytes that are there only while a layer's loss is computed, beside what it keeps; 0 for other layers.
double loss_bytes(const Model& model, const Layer& layer, const Share& share, const Saved& saved = {});

/// Returns the bytes of the layer's inputs alone.
double input_bytes(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks = 1);

}  // namespace syncline

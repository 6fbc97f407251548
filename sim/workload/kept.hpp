#pragma once

#include <cstdint>
#include <optional>

#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// Memory that a layer keeps from its forward pass until its backward pass has used it, in bytes on one rank; e is the
/// size of an element, and a dropout mask takes one byte per element.
///
/// Convolution, dense and custom layers keep their inputs, with all channels, for the gradient of the weights; a
/// normalisation after a convolution keeps its own inputs, which are the channels that the rank has computed. A dense
/// layer whose outputs stay split (Dense::gathered) is followed by the loss, which keeps them in 4 bytes.
///
/// A transformer's layer has s positions, width h and a heads (V. Korthikanti et al., "Reducing activation
/// recomputation in large transformer models", MLSys 2023, section 4). Attention keeps, for the rank's part of the
/// heads, queries, keys, values and the projection's input, 4·s·h·e; whole on every rank it keeps the normalisation's
/// input, the input of the queries, and the mask after the projection, s·h·(2e + 1). Scores::stored also keeps, for the
/// part of the heads, the softmax's result, the same after its dropout, and that dropout's mask, a·s²·(2e + 1). Flash
/// attention keeps none of these: it computes them once more (T. Dao et al., NeurIPS 2022, section 3.1). Feed-forward
/// keeps, for the rank's part of the hidden units, the inputs of GELU and of the second layer, 2·s·hidden·e; whole, as
/// before, s·h·(2e + 1). With e = 2, hidden = 4h and t ranks of equal parts the sum of both halves is s·h(10 + 24/t +
/// 5as/(ht)) with stored scores, and s·h(10 + 24/t) without. With sequence parallelism nothing is kept whole: those
/// parts are divided among the ranks as well, s·h/t·(34 + 5as/h). An embedding keeps the mask of the dropout after it,
/// s·h, which is divided too.
///
/// Other shapes follow from the same inputs: keys and values of fewer heads are smaller, a gated layer keeps three
/// vectors of hidden units, a layer without dropout no masks, one without normalisation only the input of its first
/// matrix, a window fewer scores; latent vectors are kept before and after their normalisation. A parallel block keeps
/// its input once. A layer of experts keeps the inputs of its normalisation and router, the router's E probabilities in
/// 4 bytes, and for each of a token's K experts (times the capacity) the input, the hidden units and the output, which
/// the gradient of the router needs.
///
/// Saved says where a framework keeps more than that.
///
/// Left out: layers without parameters (pooling, additions; activation functions work in place), the edges of images
/// that neighbours send, statistics of normalisations and of the softmax of flash attention (4·a·s bytes), the tokens'
/// numbers. Inputs that two layers read, such as at the start of a residual branch, are counted twice.
namespace syncline {

/// Choices of a framework that make its layers keep more.
struct Saved {
    /// With sequence parallelism a matrix keeps its inputs whole, as they were gathered, in place of its own positions,
    /// which have to be gathered once more for the gradients of the weights: plain autograd on a gathered tensor.
    /// Megatron-LM gathers again (LinearWithGradAccumulationAndAsyncCommunication in
    /// megatron/core/tensor_parallel/layers.py); nanotron does either (`tp_recompute_allgather`). Not for layers of
    /// experts, which gather again.
    bool gathered = false;
    /// A gated layer also keeps the result of its activation function, four vectors of hidden units: SiLU and the
    /// product as two kernels (GLUActivation in src/nanotron/models/llama.py). One kernel for both computes it again
    /// (megatron/core/fusions/fused_bias_swiglu.py). Nothing: as Plan::elementwise runs them.
    std::optional<bool> gate = {};
    /// Gradients have buffers that stay from one iteration to the next. Without, the backward pass allocates them, and
    /// they go after the optimizer's step: zero_grad(set_to_none=True), PyTorch's default since 2.0. The buckets of
    /// DistributedDataParallel stay.
    bool gradients = true;
    /// Bytes per logit while the loss is computed; nothing: logits, and a softmax of 4 bytes in place of their cast
    /// (megatron/core/tensor_parallel/cross_entropy.py). PyTorch's cross_entropy on cast logits has 4 + 4 + 4 backward
    /// (log-softmax, its gradient, that of the cast); nanotron's sharded_cross_entropy 2 + 4 + 4 + 4 forward (logits,
    /// cast, without the maximum, exponentials). Only the softmax is kept until the backward pass.
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

#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// Recomputation of activations (activation checkpointing) before the backward pass. The model's FLOP remain the same.
///
/// `full`: a span keeps only the inputs of its first layer, and its whole forward pass runs once more, with its
/// exchanges: 2·macs FLOP for each of its layers and samples. In a transformer a span is attention with the layers
/// that follow it, as in Megatron-LM (`--recompute-method uniform` with one layer), without embeddings and the head.
/// Other models have spans of ⌈√n⌉ of the n layers of a part of the pipeline (T. Chen et al., "Training deep nets
/// with sublinear memory cost", arXiv 1604.06174, 2016).
///
/// `selective`: only attention's core (Kernel::core), scores, softmax with its dropout, weighted sum: 4·s²·h FLOP for s
/// positions of width h, without exchanges. The a·s² scores, the same after their dropout and its mask are not kept (V.
/// Korthikanti et al., "Reducing activation recomputation in large transformer models", MLSys 2023, section 5). Flash
/// attention keeps none, and needs nothing more.
///
/// `operators`: every second product of a transformer's blocks, and all between products: see alternate.hpp. Sharded
/// weights are gathered before. Exchanges of inputs among rows are those that the gradients of the weights need anyway.
/// Left out: their time before what is computed again; that a block's halves are computed again together; the forward
/// pass of a last span, which could be used as it is; inputs of spans that are divided among rows without
/// sequence parallelism, or moved to the host.
namespace syncline {

/// Consecutive layers that are computed again together, or whose divided weights are gathered together: [first, end).
struct LayerSpan {
    std::uint32_t first = 0, end = 0;
    bool operator==(const LayerSpan&) const = default;
};

/// Returns the attention of a layer, or of a parallel block; null if it has none.
const Attention* attention_of(const Layer& layer);

/// Returns whether some layer has attention.
bool is_transformer(const Model& model);

/// Returns whether some layer has experts.
bool has_experts(const Model& model);

/// Returns whether some layer of the model keeps attention's scores.
bool stores_scores(const Model& model);

/// Returns the spans of a model's layers from `first` up to `end`, in order.
std::vector<LayerSpan> spans(const Model& model, std::uint32_t first, std::uint32_t end);

/// Returns whether what a layer's products read is computed again, and the layer not as a whole: rows that have
/// gathered its inputs do so once more.
bool recomputes_inputs(Recomputation recomputation, const Layer& layer);

/// Returns the part of a layer's time that is spent again before its backward pass.
double recompute_seconds(Recomputation recomputation, const Model& model, std::uint32_t layer, const LayerTime& time);

/// Returns the FLOP of a layer's forward pass that are executed again, for one pass over the share.
double recomputed_flop(Recomputation recomputation, const Model& model, std::uint32_t layer, const Share& share);

}  // namespace syncline

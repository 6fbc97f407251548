#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/recomputation.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// Recomputation of activations (activation checkpointing): what the backward pass needs is not kept, but computed
/// again before it.
///
/// `full`: a segment keeps only the inputs of its first layer. Before its backward pass the whole forward pass of the
/// segment runs once more, with its exchanges: 2·macs FLOP for each of its layers and samples. In a transformer a
/// segment is attention with the layers that follow it, as in Megatron-LM (`--recompute-method uniform` with one
/// layer); embeddings and the head are not recomputed. Other models have segments of ⌈√n⌉ of the n layers of a part of
/// the pipeline (T. Chen et al., "Training deep nets with sublinear memory cost", arXiv 1604.06174, 2016), the last one
/// of which may be shorter.
///
/// `selective`: only attention's core is computed again, from queries, keys and values: scores, softmax with its
/// dropout, weighted sum (Kernel::core), 4·s²·h FLOP for s positions of width h. The a·s² scores, the same after their
/// dropout and its mask are not kept (V. Korthikanti et al., "Reducing activation recomputation in large transformer
/// models", MLSys 2023, section 5). It has no exchanges.
/// Flash attention keeps no scores, and its own backward pass computes them again: nothing more is done for it.
///
/// `operators`: of a transformer's blocks every second product, and all that is between products, is computed again:
/// see alternate.hpp. Sharded weights are gathered before. Exchanges of inputs among rows are those that the gradients
/// of the weights need anyway. Left out: their time before what is computed again, in place of beside it;
/// that a block's halves are computed again together.
///
/// The model's FLOP remain the same; a device executes more. Left out: the forward pass of a last segment, which could
/// be used as it is; inputs of segments that are divided among rows without sequence parallelism, or moved to the host.
namespace syncline {

/// Consecutive layers that are computed again together, or whose divided weights are gathered together: [first, end).
struct Segment {
    std::uint32_t first = 0, end = 0;
    bool operator==(const Segment&) const = default;
};

/// Returns whether some layer has attention.
bool is_transformer(const Model& model);

/// Returns whether some layer of the model keeps attention's scores.
bool stores_scores(const Model& model);

/// Returns the segments of a model's layers from `first` up to `end`, in order.
std::vector<Segment> segments(const Model& model, std::uint32_t first, std::uint32_t end);

/// Returns whether what a layer's products read is computed again, and the layer not as a whole: rows that have
/// gathered its inputs do so once more.
bool recomputes_inputs(Recomputation recomputation, const Layer& layer);

/// Returns the part of a layer's time that is spent again before its backward pass.
double recompute_seconds(Recomputation recomputation, const Model& model, std::uint32_t layer, const LayerTime& time);

/// Returns the FLOP of a layer's forward pass that are executed again, for one pass over the share.
double recomputed_flop(Recomputation recomputation, const Model& model, std::uint32_t layer, const Share& share);

}  // namespace syncline

#pragma once

#include <cstdint>

#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// What a layer keeps from its forward pass until its backward pass has used it, in bytes on one rank; e is the size of
/// an element, a mask of a dropout takes a byte for each.
///
/// Convolution, dense and custom layers keep their inputs, all channels of them, for the gradient of the weights; a
/// normalisation behind a convolution its own, which are the channels that the rank has computed. A dense layer whose
/// outputs stay split (Dense::gathered) is followed by the loss, which keeps them in 4 bytes.
///
/// A transformer's layer, of s positions, width h and a heads (V. Korthikanti et al., "Reducing activation
/// recomputation in large transformer models", MLSys 2023, section 4): attention: of the rank's part of the heads
/// queries, keys, values and the projection's input, 4·s·h·e, and the softmax's result, the same after its dropout, and
/// that one's mask, a·s²·(2e + 1); whole on every rank the normalisation's input, the input of the queries, and the
/// mask behind the projection, s·h·(2e + 1). feed-forward: of the rank's part of the hidden units GELU's input and the
/// second layer's, 2·s·hidden·e; whole, as before, s·h·(2e + 1). With e = 2, hidden = 4h and t ranks of equal parts
/// these are s·h(10 + 24/t + 5as/(ht)) for both halves together. With sequence parallelism nothing is whole: what is is
/// shared out as well, s·h/t·(34 + 5as/h). An embedding keeps the mask of the dropout behind it, s·h, shared out too.
///
/// Left out: layers without parameters (pooling, additions; activation functions work in place), the edges of images
/// that neighbours send, statistics of normalisations, the tokens' numbers. Inputs that two layers read, as where a
/// residual branch begins, are counted twice. Nothing is recomputed.
namespace syncline {

/// `sequence_ranks`: among which positions are shared out between the halves of a transformer's layers; 1 without
/// sequence parallelism.
double kept_bytes(const Model& model, const Layer& layer, const Share& share, std::int64_t sequence_ranks = 1);

}  // namespace syncline

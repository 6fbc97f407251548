#pragma once

#include <cstdint>
#include <string>

#include "sim/workload/model.hpp"

/// Layers of a transformer, with counts derived from their shapes.
///
/// With s positions (tokens) of width h, a feed-forward half with `hidden` units and a vocabulary of V words:
///
///     layer         parameters                        multiply-accumulates   inputs   activations
///     attention     4h² + 4h, and 2h to normalise     4sh² + 2s²h            sh       sh
///     feed-forward  2·h·hidden + h + hidden, and 2h   2·s·h·hidden           sh       sh
///     embedding     Vh, and sh if positions are       0                      s        sh
///                   learned, gh of g segments, 2h
///                   if it normalises
///
/// Elements and multiply-accumulates are for one sample, a sequence, in the forward pass; `activations` are what a
/// layer passes on, not what it keeps inside. The two terms of the attention are its four matrices (queries, keys,
/// values, projection) and the products of queries with keys and of scores with values. A causal mask halves neither
/// product: kernels compute them whole, and D. Narayanan et al., "Efficient large-scale language model training on GPU
/// clusters using Megatron-LM", SC 2021, count them whole. With hidden = 4h, l layers, an embedding with learned
/// positions and a head with the same table (dense, tied), and with forward and backward pass counted as 3 forward
/// passes and 2 FLOP per multiply-accumulate, the totals are:
///
///     parameters        P = 12lh²(1 + 13/(12h) + (V + s)/(12lh))
///     FLOP per sample   F = 72slh²(1 + s/(6h) + V/(12lh))
///
/// The paper's F has 96 and V/(16lh), because it computes the forward pass of the layers once more; its P leaves out
/// the 2h of the last normalisation (see Dense::norm).
///
/// Left out: softmax, GELU, dropout, normalisation and additions as operations, models whose attention has no biases,
/// heads that share keys and values. The shapes are not checked here: heads must divide the width.
namespace syncline {

Layer attention(std::string name, const Attention& shape);
Layer feed_forward(std::string name, const FeedForward& shape);
Layer embedding(std::string name, const Embedding& shape);

}  // namespace syncline

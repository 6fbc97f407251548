#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/model.hpp"

/// Layers of a transformer, with counts derived from their shapes.
///
/// With s positions (tokens) of width h, a feed-forward half with `hidden` units and a vocabulary of V words:
///
///     layer         parameters                        multiply-accumulates   inputs   activations
///     attention     4h² + 4h, and 2h to normalise     4sh² + 2s²h            sh       sh
///     feed-forward  2·h·hidden + h + hidden, and 2h   2·s·h·hidden           sh       sh
///     embedding     Vh, and sh if positions are       0                      s        sh
///                   learned, gh of g segments, and
///                   its normalisation
///
/// These are the layers of GPT and BERT. In general both halves are lists of matrices (weight_matrices), each with as
/// many parameters as elements (and outputs, if it has a bias), and as many multiply-accumulates per token. With q =
/// heads·size elements of queries, k = kv_heads·size of keys and as many of values, attention has
///
///     h(q + 2k) + qh parameters, q + 2k + h biases     s·h(q + 2k) + s·qh + 2·s·min(s, window)·q
///
/// and a gated feed-forward half has 3·h·hidden and 2·hidden + h biases. RMSNorm has h parameters, not 2h. Experts: see
/// experts.hpp.
///
/// Elements and multiply-accumulates are for one sample, a sequence, in the forward pass; `activations` are what a
/// layer passes on. A causal mask halves no product, as in D. Narayanan et al., "Efficient large-scale language model
/// training on GPU clusters using Megatron-LM", SC 2021. With hidden = 4h, l layers, an embedding with learned
/// positions and a head with the same table (dense, tied), 3 forward passes and 2 FLOP per multiply-accumulate, the
/// totals are:
///
///     parameters        P = 12lh²(1 + 13/(12h) + (V + s)/(12lh))
///     FLOP per sample   F = 72slh²(1 + s/(6h) + V/(12lh))
///
/// The paper's F has 96 and V/(16lh), because it recomputes the forward pass of the layers; its P leaves out the 2h of
/// the last normalisation (Dense::norm). What flash attention computes once more is time (kernels.hpp).
///
/// Left out: softmax, GELU, dropout, normalisation, rotation and additions as operations; biases of queries, keys and
/// values alone; parameters and gradients of heads of keys and values that several ranks have (their computation is
/// counted). Not checked here: heads must divide the width unless head_size is given.
namespace syncline {

/// A matrix of weights with which a rank multiplies vectors of `inputs` elements.
struct WeightMatrix {
    const char* name;
    double positions;  ///< vectors of a sample
    double inputs, outputs;
};

/// Returns the matrices of a rank that has this part of the heads or hidden units, in the order of the forward pass.
/// All ranks have the matrices that make latent vectors.
std::vector<WeightMatrix> weight_matrices(const Attention& shape, double part = 1);
std::vector<WeightMatrix> weight_matrices(const FeedForward& shape, double part = 1);

/// Elements of a sample in the heads of a rank.
struct HeadElements {
    double heads, key_heads;             ///< numbers of heads; a rank has at least one of keys and values
    double queries, keys, values, sums;  ///< `sums`: of values, weighted by scores: the projection's input
    double scores;
};

HeadElements head_elements(const Attention& shape, double part = 1);

Layer attention(std::string name, const Attention& shape);
Layer feed_forward(std::string name, const FeedForward& shape);
/// Returns both halves as one layer, whose counts are the sums of theirs.
Layer parallel_block(std::string name, const ParallelBlock& shape);
Layer embedding(std::string name, const Embedding& shape);

/// Parts of the counts of transformers' layers.
///
/// Returns a layer that reads and passes on one vector of `width` per position.
Layer residual(std::string name, std::int64_t positions, std::int64_t width);

/// Adds the parameters and multiply-accumulates of whole matrices.
void add_matrices(Layer& layer, const std::vector<WeightMatrix>& matrices, bool bias);

}  // namespace syncline

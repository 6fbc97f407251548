#pragma once

#include <vector>

#include "sim/workload/kernels.hpp"
#include "sim/workload/transformer.hpp"

/// Recomputation by operator: of a transformer's layer the results of flash attention and of every second product with
/// weights are kept, and all else is computed again before the backward pass (torchtitan, `mode = selective` with
/// `selective_ac_option = op`: _custom_policy in torchtitan/parallelisms/parallelize_llama.py).
///
/// Products are counted as PyTorch's modules issue them, the first one being kept: queries, keys, values and
/// projection, of which keys and projection are computed again; gate, hidden units and output of a gated feed-forward
/// half, of which the hidden units are. A block's output is read by no backward pass of the block, so that neither it
/// nor the addition after it is computed again. Stored scores and the weighted sum are.
///
/// With width h, q and k elements of queries and of keys, and f hidden units of a gated half, hk + qh + hf of the h(q +
/// 2k) + qh + 3hf multiply-accumulates with weights are executed twice: 37 % in Llama 3 8B. Kept are, per token, the
/// block's input and q + k + q + f elements: queries, values, the weighted sum, the gate.
///
/// In a layer of experts the router and the experts' products run again, which are grouped, and of shared experts every
/// second product; kept are all-to-alls' results, the tokens that arrive and the results that return (the same, in
/// _op_sac_save_list of 2025, without grouped products, and per_op_sac_force_recompute_mm_shapes_by_fqns: the router).
///
/// Left out: numbers of products other than 4 in an attention half, from which torchtitan's count goes on in the next
/// half, whereas here each half begins with one that is kept.
namespace syncline {

/// Return by matrix of weights (weight_matrices) the number of its outputs that are computed again.
std::vector<double> outputs_again(const Attention& shape, double part);
std::vector<double> outputs_again(const FeedForward& shape, double part);

/// Returns the kernels of the layer's forward pass that are computed again; empty for layers that are no part of a
/// transformer's block.
std::vector<Kernel> kernels_again(const Layer& layer, const Share& share, const Operations& operations = {});

}  // namespace syncline

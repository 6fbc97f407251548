#pragma once

#include "sim/lowering/arrangement.hpp"

/// Context parallelism: N ranks of a group divide the positions of every sequence, in all layers of a transformer. They
/// have the same weights, so that gradients are all-reduced among the ranks of all groups.
///
/// Computation and kept activations of a rank are 1/N of those of all positions, also of causal attention, as in
/// zig-zag order (2N parts in all: Megatron-LM). With s positions, b samples, elements of e bytes, and queries, keys
/// and values of q, k and k elements per position on the rank:
///
/// `ring` (H. Liu, M. Zaharia, P. Abbeel, "Ring attention with blockwise transformers for near-infinite context", arXiv
/// 2310.01889): the core (scores, softmax, weighted sums) is cut into N blocks, one for each rank's keys and values,
/// which move from rank to rank while the previous block is computed. In the backward pass their gradients follow one
/// block behind (Transformer Engine, AttnFuncWithCPAndKVP2P). With M = 2·b·s/N·k·e bytes, f and g the seconds of a
/// block's forward and backward pass, and t(M) = α + Mβ, the core takes
///
///     forward    (N-1)·max(f, t(M)) + f
///     backward   max(g, t(M)) + (N-2)·max(g, t(2M)) + max(g, t(M))
///
/// Keys and values that several heads share pass once.
///
/// `ulysses` (S. A. Jacobs et al., "DeepSpeed Ulysses", arXiv 2309.14509): before the core, three all-to-alls give
/// every rank 1/N of the heads of queries, keys and values, for all positions; one after it returns its positions of
/// the output; buffers of b·s/N·q·e and b·s/N·k·e bytes per rank; the backward pass does the same in reverse. Each of
/// the rank's heads of keys must be whole, N times.
///
/// Left out: keys and values that pass as shorter latent vectors (multi-head latent attention); blocks that a mask or a
/// window leaves empty, which are passed on and computed; the smaller efficiency of N small kernels, and what they read
/// and write once more; gradients of keys and values in more than the elements' bytes.
namespace syncline {

/// Adds the steps of a layer with attention to its exchanges; does nothing for other layers, in which positions are
/// independent. `all_to_all` names the algorithm. Throws ParallelismError if the layer's positions or heads cannot be
/// divided.
void add_context(const Model& model, const Layer& layer, const Parallelism& parallelism, const std::string& all_to_all,
                 PlacedLayer& placed);

}  // namespace syncline

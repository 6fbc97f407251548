#pragma once

#include "sim/lowering/arrangement.hpp"

/// Overlap of sequence parallelism's exchanges with the products beside them, in chunks, as Megatron-Core's
/// `tp_comm_overlap` does by the user buffers of Transformer Engine (te.pytorch.module.base, initialize_ub).
///
/// In the halves of transformers rows gather the inputs of the first products (queries, keys and values; to hidden
/// units), and reduce and scatter the outputs of the last one (projection; from hidden units). In the backward pass
/// they gather the gradients of the outputs, for the gradients of what the last product reads. Each of these three
/// pairs is cut into n chunks of positions: while a chunk is computed, another one is exchanged. With e for the
/// exchange of a chunk, by the same algorithm, and c for its computation, a pair takes e + (n-1)·max(e, c) + c in place
/// of E + C. The remaining exchanges, those of inputs once more and of their gradients, are hidden as a whole behind
/// the gradients of inputs and of weights (ModelOverlap), as by `bulk` overlap there.
///
/// A chunk's products have 1/n of the rows, and take what the compute model says for these: where it knows a fixed cost
/// per kernel, or lower rates of small products, more than 1/n of the whole. Embeddings, the head and layers with
/// experts exchange as a whole, as in Megatron-Core.
///
/// Left out: chunks as many as rows that pass from neighbour to neighbour (`ring_exchange`); the multiprocessors that
/// copies take, unless Transport::exchange_multiprocessors says so.
namespace syncline {

/// Cuts the products of a layer into chunks, if the plan says so and the layer is the half of a transformer, and adds
/// to its times what that costs.
void chunk_products(const ComputeModel& computation, std::uint32_t layer, const Parallelism& parallelism,
                    PlacedLayer& placed);

}  // namespace syncline

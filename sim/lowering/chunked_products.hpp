#pragma once

#include "sim/lowering/arrangement.hpp"

/// Overlap of sequence parallelism's exchanges with the products beside them, in chunks, as Megatron-Core's
/// `tp_comm_overlap` does by the user buffers of Transformer Engine (te.pytorch.module.base, initialize_ub).
///
/// In the halves of transformers rows gather the inputs of the first products, and reduce and scatter the outputs of
/// the last one; in the backward pass they gather the gradients of the outputs. Each of these three pairs is cut into n
/// chunks of positions. With e for the exchange of a chunk, by the same algorithm, and c for its computation, which the
/// compute model gives for 1/n of the rows, a pair takes e + (n-1)·max(e, c) + c in place of E + C. The remaining
/// exchanges overlap as a whole with the gradients of inputs and of weights (ModelOverlap), as by `bulk` overlap
/// there. Embeddings, the head and layers with experts exchange as a whole, as in Megatron-Core.
///
/// Left out: chunks as many as rows that pass from neighbour to neighbour (`ring_exchange`); the multiprocessors that
/// copies take, unless Transport::exchange_multiprocessors says so.
namespace syncline {

/// Cuts the products of a layer into chunks, if the plan says so and the layer is the half of a transformer, and adds
/// to its times what that costs.
void chunk_products(const ComputeModel& computation, std::uint32_t layer, const Parallelism& parallelism,
                    PlacedLayer& placed);

}  // namespace syncline

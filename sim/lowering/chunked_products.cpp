#include "sim/lowering/chunked_products.hpp"

namespace syncline {

void chunk_products(const ComputeModel& computation, std::uint32_t layer, const Parallelism& parallelism,
                    PlacedLayer& placed) {
    if (parallelism.model_chunks == 1 || !parallelism.sequence || placed.layout.rows == 1) return;
    Share share = placed.share;
    share.samples /= static_cast<double>(parallelism.model_chunks);
    const LayerTime one = computation.time(layer, share);
    ChunkedProducts& chunked = placed.chunked;
    LayerTime& time = placed.time;
    chunked.chunks = static_cast<std::uint32_t>(parallelism.model_chunks);
    // The model's first layer has its inputs already.
    if (layer > 0) chunked.inputs_forward_s = one.inputs_forward_s;
    chunked.outputs_forward_s = one.outputs_forward_s;
    chunked.outputs_backward_s = one.outputs_backward_s;
    time.forward_s += chunked.forward_s() - time.outputs_forward_s - (layer > 0 ? time.inputs_forward_s : 0);
    time.input_gradient_s += chunked.backward_s() - time.outputs_backward_s;
}

}  // namespace syncline

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/layer_shape.hpp"
#include "sim/workload/precision.hpp"

/// A neural network as a list of layers in forward order. Counts are per sample; a multiply-accumulate is 2 FLOP. Left
/// out: layers without parameters (pooling, activations, additions).
namespace syncline {

struct Layer {
    std::string name;
    std::int64_t parameters = 0;   ///< weights, biases and normalisation scales, all of which are exchanged
    std::int64_t macs = 0;         ///< multiply-accumulates of the forward pass
    std::int64_t inputs = 0;       ///< elements read
    std::int64_t activations = 0;  ///< elements produced
    LayerShape shape = {};         ///< origin of the counts
};

struct Model {
    std::string name;
    double element_bytes = 4;          ///< of a parameter, a gradient, an activation ...
    Precision precision = {};          ///< ... unless this differs
    std::int64_t sample_elements = 0;  ///< elements of one input sample, copied from host to device
    std::vector<Layer> layers;

    std::int64_t parameters() const;
    /// Returns the parameters that act on a token: all but those of the experts to which it is not sent.
    std::int64_t active_parameters() const;
    std::int64_t macs() const;
    /// Returns the bytes of one full set of gradients: S in the literature.
    std::uint64_t gradient_bytes() const;
};

/// Return the bytes of one layer's gradients, and of its weights.
std::uint64_t gradient_bytes(const Model& model, const Layer& layer);
std::uint64_t weight_bytes(const Model& model, const Layer& layer);

/// Return the bytes of an element.
inline double weight_element(const Model& model) {
    return model.precision.weights.value_or(model.element_bytes);
}
inline double gradient_element(const Model& model) {
    return model.precision.gradients.value_or(model.element_bytes);
}
inline double activation_element(const Model& model) {
    return model.precision.activations.value_or(model.element_bytes);
}
/// Returns 0 if no master copy is kept.
inline double master_element(const Model& model) {
    constexpr double full_precision = 4;
    return model.precision.master.value_or(weight_element(model) < full_precision ? full_precision : 0);
}

/// Returns the bytes of each moment of an optimizer.
inline double moment_element(const Model& model) {
    return model.precision.moments.value_or(std::max(master_element(model), weight_element(model)));
}

/// Returns the output height or width (axis 0 or 1): ⌊(in + 2·padding - kernel)/stride⌋ + 1; may be ≤ 0 if the kernel
/// does not fit.
std::int64_t output_size(const Convolution& conv, int axis);

/// parameters = filters·(channels/groups)·kh·kw (+ filters for the bias, + 2·filters for the normalisation);
/// macs = filters·(channels/groups)·kh·kw · ho·wo; activations = filters·ho·wo.
Layer convolution(std::string name, const Convolution& conv);

/// parameters = inputs·outputs unless tied (+ outputs for the bias, + those of the normalisation); macs =
/// positions·inputs·outputs; inputs and activations cover all positions.
Layer dense(std::string name, const Dense& shape);
/// Returns the dense layer of an image, without normalisation.
Layer dense(std::string name, std::int64_t inputs, std::int64_t outputs, bool bias);

/// parameters = rows·width of all tables; inputs = lookups; activations = tables·width.
Layer embedding_bag(std::string name, const EmbeddingBag& shape);

/// With n patches of p elements and tokens of h: parameters = p·h + h (bias) + (n + extra)·h (positions) + extra·h;
/// macs = n·p·h; activations = (n + extra)·h.
Layer patch_embedding(std::string name, const PatchEmbedding& shape);

/// How ranks share a layer (tensor parallelism). `outputs`: each rank computes some output channels from all inputs; an
/// allgather gives all outputs to all, an all-reduce adds up the gradients of the inputs. `inside`: each rank does a
/// part of the layer (heads, hidden units, rows of the table); all-reduces add up the outputs, and the gradients of the
/// inputs (M. Shoeybi et al., "Megatron-LM", arXiv 1909.08053).
enum class Split { outputs, inside };

Split split_of(const Layer& layer);

/// Returns the maximum number of parts: output channels, heads, hidden units (of each expert), rows of tables.
std::int64_t parts_of(const Layer& layer);

/// Returns the parameters of a layer that act on a token.
std::int64_t active_parameters(const Layer& layer);

}  // namespace syncline

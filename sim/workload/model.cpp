#include "sim/workload/model.hpp"

#include <cmath>
#include <utility>

#include "sim/workload/experts.hpp"

namespace syncline {

namespace {

std::int64_t total(const Model& model, std::int64_t Layer::*count) {
    std::int64_t sum = 0;
    for (const Layer& layer : model.layers) sum += layer.*count;
    return sum;
}

}  // namespace

std::int64_t Model::parameters() const {
    return total(*this, &Layer::parameters);
}

std::int64_t Model::active_parameters() const {
    std::int64_t sum = 0;
    for (const Layer& layer : layers) sum += syncline::active_parameters(layer);
    return sum;
}

std::int64_t Model::macs() const {
    return total(*this, &Layer::macs);
}

std::uint64_t Model::gradient_bytes() const {
    // Summing layer by layer equals what the layers' exchanges move even if elements are smaller than a byte.
    std::uint64_t sum = 0;
    for (const Layer& layer : layers) sum += syncline::gradient_bytes(*this, layer);
    return sum;
}

std::uint64_t gradient_bytes(const Model& model, const Layer& layer) {
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(layer.parameters) * gradient_element(model)));
}

std::uint64_t weight_bytes(const Model& model, const Layer& layer) {
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(layer.parameters) * weight_element(model)));
}

std::int64_t output_size(const Convolution& conv, int axis) {
    const std::int64_t in = axis == 0 ? conv.height : conv.width;
    const std::int64_t room = in + 2 * conv.padding[axis] - conv.kernel[axis];
    // Division truncates towards zero, so without this check a kernel that is slightly too large would seem to fit
    // once.
    return room < 0 ? 0 : room / conv.stride[axis] + 1;
}

Layer convolution(std::string name, const Convolution& conv) {
    const std::int64_t pixels = output_size(conv, 0) * output_size(conv, 1);
    const std::int64_t weights = conv.filters * (conv.channels / conv.groups) * conv.kernel[0] * conv.kernel[1];
    Layer layer;
    layer.name = std::move(name);
    layer.parameters = weights + (conv.bias ? conv.filters : 0) + (conv.batch_norm ? 2 * conv.filters : 0);
    layer.macs = weights * pixels;
    layer.inputs = conv.channels * conv.height * conv.width;
    layer.activations = conv.filters * pixels;
    layer.shape = conv;
    return layer;
}

Layer dense(std::string name, const Dense& shape) {
    const std::int64_t weights = shape.inputs * shape.outputs;
    Layer layer;
    layer.name = std::move(name);
    layer.parameters =
        (shape.tied ? 0 : weights) + (shape.bias ? shape.outputs : 0) + norm_parameters(shape.norm, shape.inputs);
    layer.macs = shape.positions * weights;
    layer.inputs = shape.positions * shape.inputs;
    layer.activations = shape.positions * shape.outputs;
    layer.shape = shape;
    return layer;
}

Layer dense(std::string name, std::int64_t inputs, std::int64_t outputs, bool bias) {
    return dense(std::move(name), Dense{.inputs = inputs, .outputs = outputs, .bias = bias});
}

Layer embedding_bag(std::string name, const EmbeddingBag& shape) {
    Layer layer;
    layer.name = std::move(name);
    layer.parameters = shape.rows * shape.width;
    layer.inputs = shape.lookups;
    layer.activations = shape.tables * shape.width;
    layer.shape = shape;
    return layer;
}

Layer patch_embedding(std::string name, const PatchEmbedding& shape) {
    const std::int64_t weights = shape.inputs() * shape.outputs, tokens = shape.patches() + shape.extra;
    Layer layer;
    layer.name = std::move(name);
    layer.parameters = weights + shape.outputs + (tokens + shape.extra) * shape.outputs;
    layer.macs = shape.patches() * weights;
    layer.inputs = shape.channels * shape.height * shape.width;
    layer.activations = tokens * shape.outputs;
    layer.shape = shape;
    return layer;
}

Split split_of(const Layer& layer) {
    const bool by_outputs =
        std::holds_alternative<Custom>(layer.shape) || std::holds_alternative<Convolution>(layer.shape) ||
        std::holds_alternative<Dense>(layer.shape) || std::holds_alternative<PatchEmbedding>(layer.shape);
    return by_outputs ? Split::outputs : Split::inside;
}

std::int64_t parts_of(const Layer& layer) {
    struct Parts {
        const Layer& layer;
        std::int64_t operator()(const Custom&) const { return layer.activations; }
        std::int64_t operator()(const Convolution& conv) const { return conv.filters; }
        std::int64_t operator()(const Dense& dense) const { return dense.outputs; }
        std::int64_t operator()(const Attention& attention) const { return attention.heads; }
        std::int64_t operator()(const FeedForward& forward) const { return forward.hidden; }
        std::int64_t operator()(const ParallelBlock& block) const { return block.attention.heads; }
        std::int64_t operator()(const Experts& experts) const { return experts.hidden; }
        std::int64_t operator()(const Embedding& embedding) const { return embedding.vocabulary; }
        std::int64_t operator()(const EmbeddingBag& bag) const { return bag.rows; }
        std::int64_t operator()(const PatchEmbedding& patches) const { return patches.outputs; }
    };
    return std::visit(Parts{layer}, layer.shape);
}

std::int64_t active_parameters(const Layer& layer) {
    const auto* experts = std::get_if<Experts>(&layer.shape);
    return layer.parameters - (experts ? (experts->experts - experts->top_k) * expert_parameters(*experts) : 0);
}

}  // namespace syncline

#include "sim/workload/transformer.hpp"

#include <utility>

namespace syncline {

namespace {

/// Returns a layer that reads and passes on one vector of `width` per position.
Layer residual(std::string name, std::int64_t positions, std::int64_t width) {
    Layer layer;
    layer.name = std::move(name);
    layer.inputs = layer.activations = positions * width;
    return layer;
}

}  // namespace

Layer attention(std::string name, const Attention& shape) {
    const std::int64_t s = shape.positions, h = shape.width;
    Layer layer = residual(std::move(name), s, h);
    layer.parameters = 4 * h * h + 4 * h + 2 * h;
    layer.macs = 4 * s * h * h + 2 * s * s * h;
    layer.shape = shape;
    return layer;
}

Layer feed_forward(std::string name, const FeedForward& shape) {
    const std::int64_t s = shape.positions, h = shape.width, hidden = shape.hidden;
    Layer layer = residual(std::move(name), s, h);
    layer.parameters = 2 * h * hidden + h + hidden + 2 * h;
    layer.macs = 2 * s * h * hidden;
    layer.shape = shape;
    return layer;
}

Layer embedding(std::string name, const Embedding& shape) {
    const std::int64_t s = shape.positions, h = shape.width;
    Layer layer = residual(std::move(name), s, h);
    layer.inputs = s;
    const std::int64_t rows = shape.vocabulary + (shape.learned_positions ? s : 0) + shape.segments;
    layer.parameters = rows * h + (shape.norm ? 2 * h : 0);
    layer.shape = shape;
    return layer;
}

}  // namespace syncline

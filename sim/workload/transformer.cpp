#include "sim/workload/transformer.hpp"

#include <algorithm>
#include <utility>

#include "sim/workload/real.hpp"

namespace syncline {

void add_matrices(Layer& layer, const std::vector<WeightMatrix>& matrices, bool bias) {
    for (const WeightMatrix& matrix : matrices) {
        const auto inputs = static_cast<std::int64_t>(matrix.inputs),
                   outputs = static_cast<std::int64_t>(matrix.outputs);
        layer.parameters += inputs * outputs + (bias ? outputs : 0);
        layer.macs += static_cast<std::int64_t>(matrix.positions) * inputs * outputs;
    }
}

Layer residual(std::string name, std::int64_t positions, std::int64_t width) {
    Layer layer;
    layer.name = std::move(name);
    layer.inputs = layer.activations = positions * width;
    return layer;
}

HeadElements head_elements(const Attention& shape, double part) {
    const double s = real(shape.positions), sources = real(shape.sources()), size = real(shape.size());
    const double long_size = size + real(shape.rotary_size);
    HeadElements own{};
    own.heads = real(shape.heads) * part;
    own.key_heads = std::min(own.heads, std::max(real(shape.key_heads()) * part, 1.0));
    own.queries = own.heads * s * long_size;
    own.keys = own.key_heads * sources * long_size;
    own.values = own.key_heads * sources * size;
    own.sums = own.heads * s * size;
    own.scores = own.heads * s * real(shape.seen());
    return own;
}

std::vector<WeightMatrix> weight_matrices(const Attention& shape, double part) {
    const double s = real(shape.positions), sources = real(shape.sources()), h = real(shape.width);
    const double size = real(shape.size());
    const HeadElements own = head_elements(shape, part);
    const double queries = own.heads * (size + real(shape.rotary_size)), values = 2 * own.key_heads * size;
    std::vector<WeightMatrix> matrices;
    const auto add = [&](const char* name, const char* latent_name, double positions, std::int64_t rank,
                         std::int64_t more, double outputs) {
        if (rank > 0) matrices.push_back({latent_name, positions, h, real(rank + more)});
        matrices.push_back({name, positions, rank > 0 ? real(rank) : h, outputs});
    };
    if (shape.context == 0 && shape.query_rank == 0 && shape.kv_rank == 0) {
        add("queries, keys and values", "", s, 0, 0, queries + values);
    } else {
        add("queries", "latent queries", s, shape.query_rank, 0, queries);
        add("keys and values", "latent keys and values", sources, shape.kv_rank, shape.rotary_size, values);
    }
    matrices.push_back({"projection", s, own.heads * size, h});
    return matrices;
}

std::vector<WeightMatrix> weight_matrices(const FeedForward& shape, double part) {
    const double s = real(shape.positions), h = real(shape.width), hidden = real(shape.hidden) * part;
    return {{"to hidden units", s, h, (shape.gated ? 2 : 1) * hidden}, {"from hidden units", s, hidden, h}};
}

Layer attention(std::string name, const Attention& shape) {
    Layer layer = residual(std::move(name), shape.positions, shape.width);
    add_matrices(layer, weight_matrices(shape), shape.bias);
    layer.parameters += norm_parameters(shape.norm, shape.width);
    layer.parameters += norm_parameters(shape.norm, shape.query_rank) + norm_parameters(shape.norm, shape.kv_rank);
    layer.macs += shape.positions * shape.seen() * shape.heads * (2 * shape.size() + shape.rotary_size);
    layer.shape = shape;
    return layer;
}

Layer feed_forward(std::string name, const FeedForward& shape) {
    Layer layer = residual(std::move(name), shape.positions, shape.width);
    add_matrices(layer, weight_matrices(shape), shape.bias);
    layer.parameters += norm_parameters(shape.norm, shape.width);
    layer.shape = shape;
    return layer;
}

Layer parallel_block(std::string name, const ParallelBlock& shape) {
    Layer layer = attention(std::move(name), shape.attention);
    const Layer forward = feed_forward("", shape.forward);
    layer.parameters += forward.parameters;
    layer.macs += forward.macs;
    layer.shape = shape;
    return layer;
}

Layer embedding(std::string name, const Embedding& shape) {
    const std::int64_t s = shape.positions, h = shape.width;
    Layer layer = residual(std::move(name), s, h);
    layer.inputs = s;
    const std::int64_t rows = shape.vocabulary + (shape.learned_positions ? s : 0) + shape.segments;
    layer.parameters = rows * h + norm_parameters(shape.norm, h);
    layer.shape = shape;
    return layer;
}

}  // namespace syncline

#include "sim/config/layer_keys.hpp"

#include <fmt/format.h>

#include "sim/config/counts.hpp"
#include "sim/workload/experts.hpp"
#include "sim/workload/transformer.hpp"

namespace syncline::config {

namespace {

/// Returns the layer with the parameters that its shape does not have.
Layer with_extra(Layer layer, const LayerKeys& keys) {
    layer.parameters += keys.extra_parameters;
    return layer;
}

/// Sums of a layer's matrices, in floating point so that they cannot overflow.
struct Sums {
    double parameters = 0, macs = 0;

    /// Adds `number` copies of the matrices, of which `used` multiply each token.
    void add(const std::vector<WeightMatrix>& matrices, double number, double used) {
        for (const WeightMatrix& matrix : matrices) {
            parameters += number * (matrix.inputs + 1) * matrix.outputs;
            macs += used * matrix.positions * matrix.inputs * matrix.outputs;
        }
    }
    void add(const Attention& shape) {
        add(weight_matrices(shape), 1, 1);
        macs += product({shape.positions, shape.seen(), shape.heads, 2 * shape.size() + shape.rotary_size});
    }
    void add(const FeedForward& shape, double number = 1, double used = 1) {
        add(weight_matrices(shape), number, used);
    }
    /// Rejects `key` if they are too large.
    void check(Fields& fields, const char* key) const {
        check_count(fields, key, parameters, "parameters");
        check_macs(fields, key, macs);
    }
};

Norm norm_of(const Fields& fields, const LayerKeys& keys) {
    return fields.given("norm") ? keys.norm : Norm::layer;
}

Attention attention_of(Fields& fields, const LayerKeys& keys) {
    Attention shape = keys.attention;
    shape.positions = keys.positions;
    shape.width = keys.width;
    shape.bias = keys.bias || !fields.given("bias");
    shape.norm = norm_of(fields, keys);
    shape.dropout = keys.dropout;
    if (shape.head_size == 0 && shape.width % shape.heads != 0)
        fields.reject("heads", fmt::format("a width of {} does not divide into {} heads", shape.width, shape.heads),
                      "give 'head_size' if it is not width / heads");
    if (shape.heads % shape.key_heads() != 0)
        fields.reject("kv_heads", fmt::format("{} heads do not divide into {} groups", shape.heads, shape.kv_heads),
                      "");
    if (shape.kv_rank > 0 && shape.kv_heads > 0)
        fields.reject("kv_heads", "each head has its own keys and values if these come from a latent vector",
                      "leave out 'kv_heads' or 'kv_rank'");
    if (shape.rotary_size > 0 && shape.kv_rank == 0)
        fields.reject("rotary_size", "'rotary_size' needs 'kv_rank'", "write 'rotary: true' to rotate whole heads");
    if (shape.context > 0 && shape.window > 0)
        fields.reject("window", "a window cannot move over the tokens of another sequence",
                      "leave out 'window' or 'context'");
    Sums sums;
    sums.add(shape);
    sums.check(fields, "width");
    return shape;
}

FeedForward feed_forward_of(Fields& fields, const LayerKeys& keys) {
    const FeedForward shape{.positions = keys.positions,
                            .width = keys.width,
                            .hidden = keys.hidden,
                            .gated = keys.gated,
                            .bias = keys.bias || !fields.given("bias"),
                            .norm = norm_of(fields, keys),
                            .dropout = keys.dropout,
                            .merged_gate = keys.merged_gate};
    if (shape.merged_gate && !shape.gated)
        fields.reject("merged_gate", "'merged_gate' needs 'gated'", "write 'gated: true' for a gated layer");
    Sums sums;
    sums.add(shape);
    sums.check(fields, "hidden");
    return shape;
}

}  // namespace

Layer make_attention(Fields& fields, const LayerKeys& keys) {
    const Attention shape = attention_of(fields, keys);
    return fields.sound() ? with_extra(attention(keys.name, shape), keys) : Layer{};
}

Layer make_feed_forward(Fields& fields, const LayerKeys& keys) {
    const FeedForward shape = feed_forward_of(fields, keys);
    return fields.sound() ? with_extra(feed_forward(keys.name, shape), keys) : Layer{};
}

Layer make_experts(Fields& fields, const LayerKeys& keys) {
    Experts shape = keys.experts;
    shape.positions = keys.positions;
    shape.width = keys.width;
    shape.hidden = keys.hidden;
    shape.gated = keys.gated;
    shape.bias = keys.bias;
    shape.norm = norm_of(fields, keys);
    if (shape.shared_hidden == 0) shape.shared_hidden = shape.hidden;
    if (shape.top_k > shape.experts)
        fields.reject("top_k", fmt::format("a token cannot be sent to {} of {} experts", shape.top_k, shape.experts),
                      "");
    if (fields.given("shared_hidden") && shape.shared == 0)
        fields.reject("shared_hidden", "'shared_hidden' needs 'shared_experts'",
                      "write for example 'shared_experts: 1'");
    const auto expert = [&](std::int64_t hidden) {
        return FeedForward{shape.positions, shape.width, hidden, shape.gated};
    };
    const double all = static_cast<double>(shape.experts), shared = static_cast<double>(shape.shared);
    Sums sums;
    sums.add({{"router", static_cast<double>(shape.positions), static_cast<double>(shape.width), all}}, 1, 1);
    sums.add(expert(shape.hidden), all, static_cast<double>(shape.top_k));
    sums.check(fields, "experts");
    if (shape.shared > 0 && fields.sound()) {
        sums.add(expert(shape.shared_hidden), shared, shared);
        sums.check(fields, "shared_experts");
    }
    return fields.sound() ? with_extra(experts(keys.name, shape), keys) : Layer{};
}

std::vector<Layer> make_transformer(Fields& fields, const LayerKeys& keys) {
    const Attention first = attention_of(fields, keys);
    FeedForward second = feed_forward_of(fields, keys);
    const bool parallel = keys.parallel != 0, one_norm = keys.parallel == 1;
    if (one_norm) second.norm = Norm::none;
    if (fields.sound() && parallel) {  // one layer has both
        Sums sums;
        sums.add(first);
        sums.add(second);
        sums.check(fields, "hidden");
    }
    if (!fields.sound()) return {};
    std::vector<Layer> layers;
    for (std::int64_t i = 1; i <= keys.repeat; ++i) {
        const std::string name = fmt::format("{}{}", keys.name, i);
        if (parallel) {
            layers.push_back(with_extra(parallel_block(name + ".block", {first, second}), keys));
        } else {
            layers.push_back(with_extra(attention(name + ".attention", first), keys));
            layers.push_back(feed_forward(name + ".feed-forward", second));
        }
    }
    return layers;
}

}  // namespace syncline::config

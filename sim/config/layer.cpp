#include "sim/config/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "sim/config/counts.hpp"
#include "sim/config/layer_keys.hpp"
#include "sim/workload/transformer.hpp"

namespace syncline::config {

namespace {

constexpr std::size_t most_layers = 100'000;

Layer make_convolution(Fields& fields, const LayerKeys& keys) {
    check_extents(fields, "input", keys.input);
    check_extents(fields, "kernel", keys.kernel);
    check_extents(fields, "stride", keys.stride);
    check_extents(fields, "padding", keys.padding);
    if (!fields.sound()) return {};

    Convolution conv;
    conv.channels = keys.input[0];
    conv.height = keys.input[1];
    conv.width = keys.input[2];
    conv.filters = keys.filters;
    std::copy(keys.kernel.begin(), keys.kernel.end(), conv.kernel);
    std::copy(keys.stride.begin(), keys.stride.end(), conv.stride);
    std::copy(keys.padding.begin(), keys.padding.end(), conv.padding);
    conv.groups = keys.groups;
    conv.bias = keys.bias;
    conv.batch_norm = keys.batch_norm;
    conv.activation = keys.activation;
    conv.residual = keys.residual;
    conv.joined = keys.joined;
    conv.shared_input = keys.shared_input;
    conv.pooling = {static_cast<Pooling::Kind>(keys.pool), keys.pool_window, keys.pool_stride};

    for (const char* key : {"pool_window", "pool_stride"})
        if (keys.pool == 0 && fields.given(key))
            fields.reject(key, fmt::format("'{}' has no effect without 'pool'", key),
                          "write `pool: max`, or remove it");

    for (const auto& [what, number] : {std::pair{"channels", conv.channels}, std::pair{"filters", conv.filters}})
        if (number % conv.groups != 0)
            fields.reject("groups", fmt::format("{} {} cannot be divided into {} groups", number, what, conv.groups),
                          "");
    const std::vector<std::int64_t> output{output_size(conv, 0), output_size(conv, 1)};
    if (output[0] <= 0 || output[1] <= 0)
        fields.reject(
            "kernel",
            fmt::format("a {}×{} kernel does not fit an input of {}×{} with padding {} and {}", conv.kernel[0],
                        conv.kernel[1], conv.height, conv.width, conv.padding[0], conv.padding[1]),
            "");
    const double weights =
        static_cast<double>(conv.filters) * static_cast<double>(conv.channels / conv.groups) * product(keys.kernel);
    check_count(fields, "input", product(keys.input), "elements");
    check_count(fields, "filters", weights + 3 * static_cast<double>(conv.filters), "parameters");
    check_macs(fields, "filters", weights * product(output));
    check_count(fields, "filters", static_cast<double>(conv.filters) * product(output), "activations");
    return fields.sound() ? convolution(keys.name, conv) : Layer{};
}

Layer make_dense(Fields& fields, const LayerKeys& keys, const std::vector<Layer>& above) {
    const Dense shape{.inputs = keys.counts.inputs,
                      .outputs = keys.outputs,
                      .positions = std::max<std::int64_t>(keys.positions, 1),
                      .bias = keys.bias,
                      .gathered = keys.gathered,
                      .tied = keys.tied,
                      .norm = keys.norm};
    check_extents(fields, "inputs", {shape.inputs});
    check_macs(fields, "outputs", product({shape.positions, shape.inputs, shape.outputs}));
    const auto shares = [&](const Layer& layer) {
        const auto* table = std::get_if<Embedding>(&layer.shape);
        return table && table->width == shape.inputs && table->vocabulary == shape.outputs;
    };
    if (shape.tied && std::none_of(above.begin(), above.end(), shares))
        fields.reject("tied",
                      fmt::format("no embedding above has a table of {} × {} to share", shape.outputs, shape.inputs),
                      "a tied layer has as many outputs as the embedding has words, and as many inputs as its width");
    return fields.sound() ? dense(keys.name, shape) : Layer{};
}

Layer make_embedding(const LayerKeys& keys) {
    Layer layer = embedding(keys.name, {.vocabulary = keys.vocabulary,
                                        .positions = keys.positions,
                                        .width = keys.width,
                                        .learned_positions = keys.learned_positions,
                                        .segments = keys.segments,
                                        .norm = keys.norm,
                                        .dropout = keys.dropout});
    layer.parameters += keys.extra_parameters;
    return layer;
}

Layer make_embedding_bag(Fields& fields, const LayerKeys& keys) {
    EmbeddingBag bag{.tables = static_cast<std::int64_t>(keys.rows.size()), .width = keys.width};
    const std::vector<std::int64_t> each(keys.rows.size(), 1);
    const std::vector<std::int64_t>& lookups = fields.given("lookups") ? keys.lookups : each;
    if (lookups.size() != keys.rows.size())
        fields.reject("lookups", fmt::format("{} tables have {} numbers of lookups", keys.rows.size(), lookups.size()),
                      "write one number for each table");
    const auto total = [](const std::vector<std::int64_t>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0);
    };
    check_count(fields, "rows", total(keys.rows) * static_cast<double>(bag.width), "parameters");
    check_count(fields, "lookups", total(lookups) * static_cast<double>(bag.width), "elements");
    if (!fields.sound()) return {};
    bag.rows = std::accumulate(keys.rows.begin(), keys.rows.end(), std::int64_t{0});
    bag.lookups = std::accumulate(lookups.begin(), lookups.end(), std::int64_t{0});
    return embedding_bag(keys.name, bag);
}

Layer make_patch_embedding(Fields& fields, const LayerKeys& keys) {
    check_extents(fields, "input", keys.input);
    const PatchEmbedding shape{.channels = keys.input[0],
                               .height = keys.input[1],
                               .width = keys.input[2],
                               .patch = {keys.patch[0], keys.patch[1]},
                               .outputs = keys.width,
                               .extra = keys.extra};
    if (shape.height % shape.patch[0] != 0 || shape.width % shape.patch[1] != 0)
        fields.reject("patch",
                      fmt::format("{}×{} pixels cannot be divided into patches of {}×{}", shape.height, shape.width,
                                  shape.patch[0], shape.patch[1]),
                      "");
    check_macs(fields, "input", product(keys.input) * static_cast<double>(keys.width));
    return fields.sound() ? patch_embedding(keys.name, shape) : Layer{};
}

/// Returns the layers of an entry of a kind that is not a block.
std::vector<Layer> make_layers(Fields& fields, const LayerKeys& keys, const std::vector<Layer>& above) {
    const LayerKind& kind = layer_kinds()[static_cast<std::size_t>(keys.kind)];
    check_keys(fields, kind);
    switch (keys.kind) {
        case convolution_kind:
            return {make_convolution(fields, keys)};
        case dense_kind:
            return {make_dense(fields, keys, above)};
        case embedding_bag_kind:
            return {make_embedding_bag(fields, keys)};
        case patch_embedding_kind:
            return {make_patch_embedding(fields, keys)};
        case custom_kind: {
            Layer layer = keys.counts;
            layer.name = keys.name;
            return {layer};
        }
        default:
            break;
    }
    if (keys.positions == 0)
        fields.reject("positions", fmt::format("{} needs 'positions'", layer_of(kind)),
                      "add it, or write 'sequence' in place of 'input' for all layers");
    if (!fields.sound()) return {};
    switch (keys.kind) {
        case attention_kind:
            return {make_attention(fields, keys)};
        case feed_forward_kind:
            return {make_feed_forward(fields, keys)};
        case moe_kind:
            return {make_experts(fields, keys)};
        case embedding_kind:
            return {make_embedding(keys)};
        default:
            return make_transformer(fields, keys);
    }
}

/// Returns the same, or none if something is wrong.
std::vector<Layer> sound_layers(Fields& fields, const LayerKeys& keys, const std::vector<Layer>& above) {
    if (!fields.sound()) return {};
    std::vector<Layer> layers = make_layers(fields, keys, above);
    return fields.sound() ? layers : std::vector<Layer>{};
}

LayerKeys initial_keys(const LayerDefaults& defaults) {
    LayerKeys keys;
    keys.positions = defaults.positions;
    keys.attention.scores = defaults.scores;
    keys.attention.causal = defaults.causal;
    return keys;
}

/// Reads the entry of a kind that is not a block.
std::vector<Layer> describe_single(Fields& fields, const LayerDefaults& defaults, const std::vector<Layer>& above) {
    LayerKeys keys = initial_keys(defaults);
    visit(fields, keys, layer_kind_names(false));
    return sound_layers(fields, keys, above);
}

/// Returns copies of a block's layers, called NAME1.layer, …, NAME2.layer, …
std::vector<Layer> repeated(const std::vector<Layer>& block, const LayerKeys& keys) {
    std::vector<Layer> layers;
    for (std::int64_t i = 1; i <= keys.repeat; ++i)
        for (Layer layer : block) {
            layer.name = fmt::format("{}{}.{}", keys.name, i, layer.name);
            layers.push_back(std::move(layer));
        }
    return layers;
}

}  // namespace

std::vector<Layer> describe_layer(Fields& fields, const LayerDefaults& defaults, const std::vector<Layer>& above) {
    LayerKeys keys = initial_keys(defaults);
    visit(fields, keys, layer_kind_names(true));
    std::vector<Layer> block;
    fields.each({"layers", "Layers of a block, which is repeated with all of them; a block has no blocks inside."},
                [&](Fields& entry) {
                    for (Layer& layer : describe_single(entry, defaults, above)) block.push_back(std::move(layer));
                });
    if (!fields.sound()) return {};
    const std::size_t each = keys.kind == block_kind ? block.size() : keys.kind == transformer_kind ? 2 : 1;
    if (above.size() + each * static_cast<std::size_t>(keys.repeat) > most_layers) {
        fields.reject("repeat", fmt::format("the workload would have more than {} layers", most_layers), "");
        return {};
    }
    if (keys.kind != block_kind) return sound_layers(fields, keys, above);
    check_keys(fields, layer_kinds()[block_kind]);
    return repeated(block, keys);
}

}  // namespace syncline::config

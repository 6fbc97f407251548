#include "sim/config/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/config/counts.hpp"
#include "sim/workload/transformer.hpp"

namespace syncline::config {

namespace {

constexpr std::int64_t most_repeats = 10'000;

/// The keys of a layer depend on its kind.
struct Kind {
    std::string name;
    std::vector<std::string> needs;
    std::vector<std::string> takes;  ///< optional
};

const std::vector<Kind> kinds{
    {"convolution", {"input", "filters", "kernel"}, {"stride", "padding", "groups", "bias", "batch_norm"}},
    {"dense", {"inputs", "outputs"}, {"positions", "bias", "norm", "gathered", "tied"}},
    {"attention", {"width", "heads"}, {"positions"}},
    {"feed-forward", {"width", "hidden"}, {"positions"}},
    {"transformer", {"width", "heads", "hidden"}, {"positions", "repeat"}},
    {"embedding", {"vocabulary", "width"}, {"positions", "learned_positions", "segments", "norm"}},
    {"custom", {"parameters", "macs"}, {"inputs", "activations"}},
};

enum { convolution_kind, dense_kind, attention_kind, feed_forward_kind, transformer_kind, embedding_kind };

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns "a dense layer", "an attention layer".
std::string layer_of(const Kind& kind) {
    const bool vowel = std::string_view("aeiou").find(kind.name.front()) != std::string_view::npos;
    return fmt::format("{} {} layer", vowel ? "an" : "a", kind.name);
}

void check_keys(Fields& fields, const Kind& kind) {
    const std::string hint =
        fmt::format("it needs {} and takes {}", fmt::join(kind.needs, ", "), fmt::join(kind.takes, ", "));
    for (const std::string& key : kind.needs)
        if (!fields.given(key)) fields.reject(key, fmt::format("{} needs '{}'", layer_of(kind), key), hint);
    std::vector<std::string> wrong;  // each once, even if several kinds have it
    for (const Kind& other : kinds)
        for (const auto* list : {&other.needs, &other.takes})
            for (const std::string& key : *list)
                if (fields.given(key) && !contains(kind.needs, key) && !contains(kind.takes, key) &&
                    !contains(wrong, key))
                    wrong.push_back(key);
    for (const std::string& key : wrong) fields.reject(key, fmt::format("{} has no '{}'", layer_of(kind), key), hint);
}

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
    check_count(fields, "filters", weights * product(output), "multiply-accumulates");
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
    check_count(fields, "outputs", product({shape.positions, shape.inputs, shape.outputs}), "multiply-accumulates");
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

/// Rejects an attention whose heads do not divide its width, or that is too large.
void check_attention(Fields& fields, const LayerKeys& keys) {
    if (keys.width % keys.heads != 0)
        fields.reject("heads", fmt::format("a width of {} does not divide into {} heads", keys.width, keys.heads), "");
    check_count(fields, "width",
                4 * product({keys.positions, keys.width, keys.width}) +
                    2 * product({keys.positions, keys.positions, keys.width}),
                "multiply-accumulates");
}

void check_feed_forward(Fields& fields, const LayerKeys& keys) {
    check_count(fields, "hidden", 2 * product({keys.positions, keys.width, keys.hidden}), "multiply-accumulates");
}

std::vector<Layer> make_transformer(Fields& fields, const LayerKeys& keys, const std::vector<std::string>& names) {
    const bool attends = keys.kind != feed_forward_kind, feeds = keys.kind != attention_kind;
    if (attends) check_attention(fields, keys);
    if (feeds) check_feed_forward(fields, keys);
    std::vector<Layer> layers;
    while (fields.sound() && layers.size() < names.size()) {
        if (attends) layers.push_back(attention(names[layers.size()], {keys.positions, keys.width, keys.heads}));
        if (feeds) layers.push_back(feed_forward(names[layers.size()], {keys.positions, keys.width, keys.hidden}));
    }
    return layers;
}

Layer make_embedding(const LayerKeys& keys) {
    return embedding(keys.name, {.vocabulary = keys.vocabulary,
                                 .positions = keys.positions,
                                 .width = keys.width,
                                 .learned_positions = keys.learned_positions,
                                 .segments = keys.segments,
                                 .norm = keys.norm});
}

}  // namespace

void visit(Fields& fields, LayerKeys& keys) {
    std::vector<std::string> names;
    for (const Kind& kind : kinds) names.push_back(kind.name);
    fields.text({"name", "Name of the layer, unique in the workload.", true}, keys.name);
    fields.choice({"kind", "Kind of the layer, which determines its other keys.", true}, keys.kind, names);
    fields.integers({"input", "Input of a convolution: [channels, height, width] of one sample."}, keys.input, 3, 1);
    fields.integer({"filters", "Number of filters of a convolution: the channels that it produces."}, keys.filters, 1,
                   largest_extent);
    fields.integers({"kernel", "Kernel size of a convolution: one number, or [height, width]."}, keys.kernel, 2, 1);
    fields.integers({"stride", "Stride of a convolution: one number, or [height, width]."}, keys.stride, 2, 1);
    fields.integers({"padding", "Padding of a convolution on each side: one number, or [height, width]."}, keys.padding,
                    2, 0);
    fields.integer({"groups", "Number of groups of a grouped convolution: each filter sees channels/groups channels."},
                   keys.groups, 1, largest_extent);
    fields.flag({"bias", "Bias: one more parameter per filter of a convolution, or per output of a dense layer."},
                keys.bias);
    fields.flag({"batch_norm", "Batch normalisation of a convolution: a scale and a shift per filter."},
                keys.batch_norm);
    fields.integer({"inputs", "Elements that a custom layer reads per sample, or a dense layer per position."},
                   keys.counts.inputs, 0, largest_count);
    fields.integer({"outputs", "Elements that a dense layer produces per position."}, keys.outputs, 1, largest_extent);
    fields.integer({"positions",
                    "Number of tokens of a sample to which a dense, attention, feed-forward, transformer or embedding "
                    "layer is applied. Default: the workload's `sequence`, or 1 for a dense layer if there is none."},
                   keys.positions, 1, largest_extent);
    fields.integer({"width", "Elements of a token in an attention, feed-forward, transformer or embedding layer."},
                   keys.width, 1, largest_extent);
    fields.integer({"heads", "Number of heads of an attention or transformer layer; it must divide the width."},
                   keys.heads, 1, largest_extent);
    fields.integer({"hidden", "Units between the two matrices of a feed-forward or transformer layer."}, keys.hidden, 1,
                   largest_extent);
    fields.integer({"repeat", "Number of layers of a transformer, each an attention and a feed-forward layer."},
                   keys.repeat, 1, most_repeats);
    fields.integer({"vocabulary", "Rows of an embedding's table."}, keys.vocabulary, 1, largest_extent);
    fields.flag({"learned_positions", "Learned positions of an embedding: one more row for each position."},
                keys.learned_positions);
    fields.integer({"segments", "Number of segments (parts of a text) of an embedding, each with one more row."},
                   keys.segments, 0, largest_extent);
    fields.flag(
        {"norm", "Normalisation: a scale and a shift per input of a dense layer, or per element of an embedding."},
        keys.norm);
    fields.flag({"gathered",
                 "Gathering of a dense layer's outputs: ranks that each hold a part of the outputs need all of them."},
                keys.gathered);
    fields.flag(
        {"tied", "Weight tying: a dense layer shares the weights of an embedding above, where they are counted."},
        keys.tied);
    fields.integer({"parameters", "Number of parameters of a custom layer, which are exchanged."},
                   keys.counts.parameters, 0, largest_count);
    fields.integer({"macs", "Multiply-accumulates of a custom layer's forward pass, per sample."}, keys.counts.macs, 0,
                   largest_count);
    fields.integer({"activations", "Elements that a custom layer produces per sample."}, keys.counts.activations, 0,
                   largest_count);
}

std::vector<std::string> layer_names(const LayerKeys& keys) {
    if (keys.kind != transformer_kind) return {keys.name};
    std::vector<std::string> names;
    for (std::int64_t i = 1; i <= keys.repeat; ++i)
        for (const char* half : {"attention", "feed-forward"})
            names.push_back(fmt::format("{}{}.{}", keys.name, i, half));
    return names;
}

std::vector<Layer> make_layers(Fields& fields, const LayerKeys& keys, const std::vector<Layer>& above) {
    const Kind& kind = kinds[static_cast<std::size_t>(keys.kind)];
    check_keys(fields, kind);
    if (keys.kind == convolution_kind) return {make_convolution(fields, keys)};
    if (keys.kind == dense_kind) return {make_dense(fields, keys, above)};
    if (contains(kind.takes, "positions") && keys.positions == 0)
        fields.reject("positions", fmt::format("{} needs 'positions'", layer_of(kind)),
                      "add it, or write 'sequence' in place of 'input' for all layers");
    if (!fields.sound()) return {};
    if (keys.kind == embedding_kind) return {make_embedding(keys)};
    if (contains(kind.needs, "width")) return make_transformer(fields, keys, layer_names(keys));
    Layer layer = keys.counts;
    layer.name = keys.name;
    return {layer};
}

}  // namespace syncline::config

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/files.hpp"

namespace syncline::config {

namespace {

constexpr std::int64_t largest_extent = 1 << 24;
/// Of anything counted, in one layer or in all together: sums, and their bytes, then stay within 64 bits.
constexpr std::int64_t largest_count = 100'000'000'000'000'000;
constexpr double largest_element_bytes = 16;

/// The keys of a layer depend on its kind.
struct Kind {
    std::string name;
    std::vector<std::string> needs;
    std::vector<std::string> takes;  ///< besides
};

const std::vector<Kind> kinds{
    {"convolution", {"input", "filters", "kernel"}, {"stride", "padding", "groups", "bias", "batch_norm"}},
    {"dense", {"inputs", "outputs"}, {"bias"}},
    {"custom", {"parameters", "macs"}, {"inputs", "activations"}},
};

enum { convolution_kind, dense_kind };

/// What a layer's mapping says, whatever its kind.
struct Keys {
    std::string name;
    int kind = convolution_kind;
    std::vector<std::int64_t> input{1, 1, 1}, kernel{1, 1}, stride{1, 1}, padding{0, 0};
    std::int64_t filters = 1, groups = 1, outputs = 1;
    bool bias = false, batch_norm = false;
    Layer counts;
};

void visit(Fields& fields, Keys& keys) {
    std::vector<std::string> names;
    for (const Kind& kind : kinds) names.push_back(kind.name);
    fields.text({"name", "Unique in the workload.", true}, keys.name);
    fields.choice({"kind", "What the layer computes; which other keys it has depends on it.", true}, keys.kind, names);
    fields.integers({"input", "Of a convolution: [channels, height, width] of one sample."}, keys.input, 3, 1);
    fields.integer({"filters", "Of a convolution: channels that it produces."}, keys.filters, 1, largest_extent);
    fields.integers({"kernel", "Of a convolution: one number, or [height, width]."}, keys.kernel, 2, 1);
    fields.integers({"stride", "Of a convolution: one number, or [height, width]."}, keys.stride, 2, 1);
    fields.integers({"padding", "Of a convolution, on each side: one number, or [height, width]."}, keys.padding, 2, 0);
    fields.integer({"groups", "Of a convolution: each filter sees channels/groups channels."}, keys.groups, 1,
                   largest_extent);
    fields.flag({"bias", "Adds one parameter per filter, or per output of a dense layer."}, keys.bias);
    fields.flag({"batch_norm", "Of a convolution: adds a scale and a shift per filter."}, keys.batch_norm);
    fields.integer({"inputs", "Of a dense or custom layer: elements read, per sample."}, keys.counts.inputs, 0,
                   largest_count);
    fields.integer({"outputs", "Of a dense layer: elements produced, per sample."}, keys.outputs, 1, largest_extent);
    fields.integer({"parameters", "Of a custom layer: what is exchanged."}, keys.counts.parameters, 0, largest_count);
    fields.integer({"macs", "Of a custom layer: multiply-accumulates of the forward pass, per sample."},
                   keys.counts.macs, 0, largest_count);
    fields.integer({"activations", "Of a custom layer: elements produced, per sample."}, keys.counts.activations, 0,
                   largest_count);
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

void check_keys(Fields& fields, const Kind& kind) {
    const std::string hint =
        fmt::format("it has {} and may have {}", fmt::join(kind.needs, ", "), fmt::join(kind.takes, ", "));
    for (const std::string& key : kind.needs)
        if (!fields.given(key)) fields.reject(key, fmt::format("a {} layer needs '{}'", kind.name, key), hint);
    for (const Kind& other : kinds)
        for (const auto* list : {&other.needs, &other.takes})
            for (const std::string& key : *list)
                if (fields.given(key) && !contains(kind.needs, key) && !contains(kind.takes, key))
                    fields.reject(key, fmt::format("a {} layer has no '{}'", kind.name, key), hint);
}

/// Extents that are too large for the counts made from them to be told from a slip.
void check_extents(Fields& fields, const char* key, const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values)
        if (value > largest_extent)
            fields.reject(key, fmt::format("'{}': {} is too large", key, value),
                          fmt::format("at most {}", largest_extent));
}

void check_count(Fields& fields, const char* key, double count, const char* what) {
    if (count > static_cast<double>(largest_count))
        fields.reject(key, fmt::format("{:.3g} {} are too many", count, what),
                      fmt::format("at most {:.0e}", static_cast<double>(largest_count)));
}

double product(const std::vector<std::int64_t>& values) {
    double result = 1;
    for (const std::int64_t value : values) result *= static_cast<double>(value);
    return result;
}

Layer make_convolution(Fields& fields, const Keys& keys) {
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
            fields.reject("groups", fmt::format("{} {} do not divide into {} groups", number, what, conv.groups), "");
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

Layer make_dense(Fields& fields, const Keys& keys) {
    check_extents(fields, "inputs", {keys.counts.inputs});
    return fields.sound() ? dense(keys.name, keys.counts.inputs, keys.outputs, keys.bias) : Layer{};
}

Layer make_layer(Fields& fields, const Keys& keys) {
    check_keys(fields, kinds[static_cast<std::size_t>(keys.kind)]);
    if (keys.kind == convolution_kind) return make_convolution(fields, keys);
    if (keys.kind == dense_kind) return make_dense(fields, keys);
    Layer layer = keys.counts;
    layer.name = keys.name;
    return layer;
}

/// A file that names its published totals is refused when its layers do not add up to them: a slip in a shape is found
/// here.
void check_total(Fields& fields, const char* key, std::int64_t published, std::int64_t total) {
    if (fields.given(key) && published != total)
        fields.reject(key, fmt::format("the layers add up to {} {}, not {}", total, key, published),
                      "a layer's shape is wrong, or this number");
}

}  // namespace

void describe(Fields& fields, Model& model) {
    fields.text({"name", "Calibrations of devices refer to it.", true}, model.name);

    std::vector<std::int64_t> input{1, 1, 1};
    fields.integers({"input", "One sample: [channels, height, width].", true}, input, 3, 1);
    check_extents(fields, "input", input);
    check_count(fields, "input", product(input), "elements");

    fields.quantity({"element_size", "Of a parameter, a gradient and an activation; `4 B` (fp32) by default."},
                    model.element_bytes, Dimension::bytes);
    if (model.element_bytes > largest_element_bytes)
        fields.reject("element_size", "no number is that large", fmt::format("at most {} B", largest_element_bytes));

    std::set<std::string> names;
    fields.each({"layers", "In forward order.", true}, [&](Fields& entry) {
        Keys keys;
        visit(entry, keys);
        if (!names.insert(keys.name).second && entry.given("name"))
            entry.reject("name", fmt::format("a layer named '{}' stands above", keys.name), "names are unique");
        if (entry.sound()) model.layers.push_back(make_layer(entry, keys));
    });
    double parameters = 0, macs = 0;
    for (const Layer& layer : model.layers) {
        parameters += static_cast<double>(layer.parameters);
        macs += static_cast<double>(layer.macs);
    }
    check_count(fields, "layers", parameters, "parameters");
    check_count(fields, "layers", macs, "multiply-accumulates");

    const bool complete = fields.sound();
    if (complete) model.sample_elements = static_cast<std::int64_t>(product(input));
    fields.section({"published", "What others say this model has; the layers must add up to it."}, [&](Fields& inner) {
        std::int64_t published_parameters = 0, published_macs = 0;
        std::string source;
        inner.integer({"parameters", "In all layers."}, published_parameters, 0, largest_count);
        inner.integer({"macs", "Multiply-accumulates of the forward pass, per sample."}, published_macs, 0,
                      largest_count);
        inner.text({"source", "Where the numbers are from.", true}, source);
        if (!complete || !inner.sound()) return;
        check_total(inner, "parameters", published_parameters, model.parameters());
        check_total(inner, "macs", published_macs, model.macs());
    });
}

}  // namespace syncline::config

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/counts.hpp"
#include "sim/config/files.hpp"
#include "sim/config/layer.hpp"

namespace syncline::config {

namespace {

constexpr std::size_t most_layers = 100'000;
constexpr double largest_element_bytes = 16;

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

    std::vector<std::int64_t> input;
    std::int64_t sequence = 0;
    fields.integers({.name = "input",
                     .doc = "One sample, an image: [channels, height, width]. This or `sequence`.",
                     .unless = "sequence"},
                    input, 3, 1);
    fields.integer({"sequence", "One sample, a text: so many tokens; the positions of all layers that do not say."},
                   sequence, 1, largest_extent);
    if (fields.given("input") && fields.given("sequence"))
        fields.reject("sequence", "a sample is an image or a sequence, not both", "take 'input' or this away");
    check_extents(fields, "input", input);
    check_count(fields, "input", product(input), "elements");

    fields.quantity({"element_size", "Of a parameter, a gradient and an activation; `4 B` (fp32) by default."},
                    model.element_bytes, Dimension::bytes);
    if (model.element_bytes > largest_element_bytes)
        fields.reject("element_size", "no number is that large", fmt::format("at most {} B", largest_element_bytes));

    std::set<std::string> names;
    fields.each({"layers", "In forward order.", true}, [&](Fields& entry) {
        LayerKeys keys;
        keys.positions = sequence;
        visit(entry, keys);
        const std::vector<std::string> made = layer_names(keys);
        if (model.layers.size() + made.size() > most_layers)
            return entry.reject("repeat", fmt::format("these are more than {} layers", most_layers), "");
        for (const std::string& name : made)
            if (!names.insert(name).second && entry.given("name"))
                entry.reject("name", fmt::format("a layer named '{}' stands above", name), "names are unique");
        if (entry.sound())
            for (Layer& layer : make_layers(entry, keys, model.layers)) model.layers.push_back(std::move(layer));
    });
    double parameters = 0, macs = 0;
    for (const Layer& layer : model.layers) {
        parameters += static_cast<double>(layer.parameters);
        macs += static_cast<double>(layer.macs);
    }
    check_count(fields, "layers", parameters, "parameters");
    check_count(fields, "layers", macs, "multiply-accumulates");

    const bool complete = fields.sound();
    if (complete) model.sample_elements = sequence > 0 ? sequence : static_cast<std::int64_t>(product(input));
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

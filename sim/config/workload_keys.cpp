#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/counts.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/config/layer.hpp"

namespace syncline::config {

namespace {

constexpr double largest_element_bytes = 16;

/// Rejects a file whose layers do not add up to its published totals: some shape is then wrong.
void check_total(Fields& fields, const char* key, std::int64_t published, std::int64_t total) {
    if (fields.given(key) && published != total)
        fields.reject(key, fmt::format("the layers add up to {} {}, not {}", total, key, published),
                      "correct a layer's shape, or this number");
}

}  // namespace

void describe(Fields& fields, Model& model) {
    fields.text({"name", "Name of the model, to which calibrations of devices refer.", true}, model.name);

    std::vector<std::int64_t> input;
    LayerDefaults defaults;
    std::int64_t& sequence = defaults.positions;
    fields.integers({.name = "input",
                     .doc = "Shape of a sample that is an image: `[channels, height, width]`.",
                     .unless = "sequence"},
                    input, 3, 1);
    fields.integer({"sequence",
                    "Number of tokens of a sample that is a text, in place of `input`. One element per token is copied "
                    "to the device. Default of `positions` in all layers."},
                   sequence, 1, largest_extent);
    if (fields.given("input") && fields.given("sequence"))
        fields.reject("sequence", "a sample is an image or a sequence, not both", "remove one of the two");
    check_extents(fields, "input", input);
    check_count(fields, "input", product(input), "elements");

    fields.quantity({"element_size", "Size of a parameter, a gradient and an activation; `4 B` is fp32."},
                    model.element_bytes, Dimension::bytes);
    if (model.element_bytes > largest_element_bytes)
        fields.reject("element_size", "'element_size' is too large",
                      fmt::format("the maximum is {} B", largest_element_bytes));

    fields.one_of({"attention",
                   "Attention scores: kept on the chip and recomputed in the backward pass (`flash`), or written to "
                   "memory (`stored`)."},
                  defaults.scores, {{"flash", Scores::flash}, {"stored", Scores::stored}});

    fields.flag({"causal",
                 "Causal attention (GPT, Llama): tokens attend only to earlier ones, and `flash` computes about half "
                 "of the scores. The model's FLOP count all of them."},
                defaults.causal);

    std::set<std::string> names;
    fields.each({"layers", "Layers with parameters, in forward order.", true}, [&](Fields& entry) {
        for (Layer& layer : describe_layer(entry, defaults, model.layers)) {
            if (!names.insert(layer.name).second) {
                entry.reject("name", fmt::format("duplicate layer name '{}'", layer.name),
                             "give each layer its own name");
                break;
            }
            model.layers.push_back(std::move(layer));
        }
    });
    double parameters = 0, macs = 0;
    for (const Layer& layer : model.layers) {
        parameters += static_cast<double>(layer.parameters);
        macs += static_cast<double>(layer.macs);
    }
    check_count(fields, "layers", parameters, "parameters");
    check_macs(fields, "layers", macs);

    const bool complete = fields.sound();
    if (complete) model.sample_elements = sequence > 0 ? sequence : static_cast<std::int64_t>(product(input));
    fields.section(
        {"published", "Published totals of the model, to which the layers must add up."}, [&](Fields& inner) {
            std::int64_t published_parameters = -1, published_active = -1, published_macs = -1;
            std::string source;
            inner.integer({"parameters", "Parameters of all layers."}, published_parameters, 0, largest_count);
            inner.integer({"active_parameters", "Parameters that act on a token: not all experts do."},
                          published_active, 0, largest_count);
            inner.integer({"macs", "Multiply-accumulates of the forward pass, per sample."}, published_macs, 0,
                          largest_macs);
            inner.text({"source", "Source of the numbers.", true}, source);
            if (!complete || !inner.sound()) return;
            check_total(inner, "parameters", published_parameters, model.parameters());
            check_total(inner, "active_parameters", published_active, model.active_parameters());
            check_total(inner, "macs", published_macs, model.macs());
        });
}

}  // namespace syncline::config

#include "sim/config/compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace syncline::config {

namespace {

/// Returns the names of `of` that are not in `in`.
std::vector<std::string> missing(const std::vector<std::string>& of, const std::vector<std::string>& in) {
    std::vector<std::string> result;
    for (const std::string& name : of)
        if (std::find(in.begin(), in.end(), name) == in.end()) result.push_back(name);
    return result;
}

/// Returns the first names, and the number of further ones.
std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 3;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(shown, names.size()));
    const std::string first = fmt::format("'{}'", fmt::join(names.begin(), end, "', '"));
    return names.size() <= shown ? first : fmt::format("{} and {} more", first, names.size() - shown);
}

void check_measured(Fields& fields, const Model& model, const Device& device) {
    const MeasuredLayers* measured = measured_layers(device, model.name);
    if (measured == nullptr) {
        std::vector<std::string> workloads;
        for (const MeasuredLayers& row : device.layer_times) workloads.push_back(row.workload);
        return fields.reject("compute", fmt::format("device '{}' has no layer times for '{}'", device.name, model.name),
                             workloads.empty() ? "add them to the device's `layer_times`"
                                               : fmt::format("its 'layer_times' has {}", listed(workloads)));
    }
    std::vector<std::string> layers, timed;
    for (const Layer& layer : model.layers) layers.push_back(layer.name);
    for (const MeasuredLayers::Layer& layer : measured->layers) timed.push_back(layer.name);
    const std::vector<std::string> untimed = missing(layers, timed), unknown = missing(timed, layers);
    const std::string where = fmt::format("the layer times of device '{}' for '{}'", device.name, model.name);
    if (!untimed.empty()) {
        const auto near = closest(untimed.front(), unknown);
        fields.reject(
            "compute", fmt::format("{} omit {}", where, listed(untimed)),
            near ? fmt::format("should '{}' there be '{}'?", *near, untimed.front()) : "every layer needs an entry");
    } else if (!unknown.empty()) {
        fields.reject("compute", fmt::format("{} name {}, which the workload does not have", where, listed(unknown)),
                      "");
    }
}

}  // namespace

void describe_compute(Fields& fields, ComputeKind& kind) {
    fields.one_of({"compute",
                   "Compute model: the roofline, scaled to a measured throughput if there is one (`calibrated`); the "
                   "roofline alone (`roofline`); the kernels with im2col (`im2col`); the device's `efficiency`; or its "
                   "`layer_times` (`measured`)."},
                  kind,
                  {{"calibrated", ComputeKind::calibrated},
                   {"roofline", ComputeKind::roofline},
                   {"im2col", ComputeKind::im2col},
                   {"efficiency", ComputeKind::efficiency},
                   {"measured", ComputeKind::measured}});
}

void check_compute(Fields& fields, ComputeKind kind, const Model& model, const Device& device) {
    if (kind == ComputeKind::efficiency && !device.efficiency)
        fields.reject("compute", fmt::format("device '{}' has no 'efficiency'", device.name),
                      "`efficiency: {over: batch, points: [{at: 1, part: 0.2}, {at: 64, part: 0.6}], source: …}`");
    if (kind == ComputeKind::measured) check_measured(fields, model, device);
}

}  // namespace syncline::config

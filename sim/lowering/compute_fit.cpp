#include <fmt/format.h>

#include <algorithm>

#include "sim/base/diagnostics.hpp"
#include "sim/lowering/feasibility_parts.hpp"

namespace syncline {

namespace {

/// Returns the names of `of` that are not in `in`.
std::vector<std::string> names_missing(const std::vector<std::string>& of, const std::vector<std::string>& in) {
    std::vector<std::string> result;
    for (const std::string& name : of)
        if (std::find(in.begin(), in.end(), name) == in.end()) result.push_back(name);
    return result;
}

/// Returns the first names, and the number of further ones.
std::string first_names(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 3;
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(shown, names.size()));
    const std::string first = fmt::format("'{}'", fmt::join(names.begin(), end, "', '"));
    return names.size() <= shown ? first : fmt::format("{} and {} more", first, names.size() - shown);
}

}  // namespace

void judge_layer_times(const Model& model, const Device& device, Complaints& complaints) {
    const auto refuse = [&](std::string message, std::string hint) {
        complaints.push_back({"compute", std::move(message), std::move(hint)});
    };
    const MeasuredLayers* measured = measured_layers(device, model.name);
    if (measured == nullptr) {
        std::vector<std::string> workloads;
        for (const MeasuredLayers& row : device.layer_times) workloads.push_back(row.workload);
        return refuse(fmt::format("device '{}' has no layer times for '{}'", device.name, model.name),
                      workloads.empty() ? "add them to the device's `layer_times`"
                                        : fmt::format("its 'layer_times' has {}", first_names(workloads)));
    }
    std::vector<std::string> layers, timed;
    for (const Layer& layer : model.layers) layers.push_back(layer.name);
    for (const MeasuredLayers::Layer& layer : measured->layers) timed.push_back(layer.name);
    const std::vector<std::string> untimed = names_missing(layers, timed), unknown = names_missing(timed, layers);
    const std::string where = fmt::format("the layer times of device '{}' for '{}'", device.name, model.name);
    if (!untimed.empty()) {
        const auto near = closest(untimed.front(), unknown);
        refuse(fmt::format("{} omit {}", where, first_names(untimed)),
               near ? fmt::format("should '{}' there be '{}'?", *near, untimed.front()) : "every layer needs an entry");
    } else if (!unknown.empty()) {
        refuse(fmt::format("{} name {}, which the workload does not have", where, first_names(unknown)), "");
    }
}

}  // namespace syncline

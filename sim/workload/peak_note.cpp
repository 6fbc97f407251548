#include "sim/workload/peak_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace syncline {

namespace {

/// Names the data of the device that could give measured times; empty if there is none.
std::string unused(const std::string& workload, const Device& device) {
    if (calibration_of(device, workload)) return "its calibration (`compute: calibrated`)";
    if (measured_layers(device, workload)) return "its times of layers (`compute: measured`)";
    if (device.kernels) return "its measurement of kernels (`compute: tables`)";
    if (device.efficiency) return "its efficiency curve (`compute: efficiency`)";
    return "";
}

}  // namespace

namespace {

/// Between these multiples of their uncalibrated predictions nine of ten published iterations of language models took
/// (scenarios/published/llm; tests/published/check compares them).
struct Observed {
    double least, most;
    const char* devices;
};
constexpr Observed with_table{1.0, 1.7, "A100, H100 and B200"}, with_tiles{1.0, 1.3, "A100"},
    at_peak{1.3, 2.3, "A100 and H100"};

std::string observed(const Observed& of) {
    return fmt::format(
        "; nine of ten published trainings of language models on {} took {} to {} times as long as predicted so",
        of.devices, of.least, of.most);
}

}  // namespace

std::string peak_note(ComputeKind kind, const std::string& workload, const Device& device, bool nearer_runs) {
    const ComputeKind used = kind_used(kind, workload, device);
    if (used == ComputeKind::tables) {
        const bool table = static_cast<bool>(device.kernels->table);
        const std::string basis =
            table ? "compute times rest on the device's table of measured matrix products, and its measured rates of "
                    "other kernels: no measurement of this workload supports them"
                  : "compute times rest on the device's measured rate of large matrix products, its tiles, and its "
                    "measured rates of other kernels: it has no table of measured products, and no measurement of "
                    "this workload supports them";
        return nearer_runs ? basis : basis + observed(table ? with_table : with_tiles);
    }
    if (used != ComputeKind::roofline && used != ComputeKind::im2col) return "";
    const std::string better = unused(workload, device);
    return "compute times assume the device's peak: " +
           (better.empty() ? "no measurement supports them" : better + " is not used") + observed(at_peak);
}

std::string missing_rate_note(ComputeKind kind, const Model& model, const Device& device) {
    if (kind_used(kind, model.name, device) != ComputeKind::tables) return "";
    const bool convolves = std::any_of(model.layers.begin(), model.layers.end(), [](const Layer& layer) {
        return std::holds_alternative<Convolution>(layer.shape);
    });
    for (const ProductKind product : {ProductKind::product, ProductKind::convolution}) {
        if (product == ProductKind::convolution && !convolves) continue;
        const Factors wanted = factors_wanted(model, product);
        if (wanted != Factors::half && factors_used(model, device, product) == Factors::half)
            return fmt::format(
                "products of {} are computed as 16-bit ones: device '{}' has no `{}` in its `kernels` "
                "(`precision: {{activations: 2 B}}` is a training in 16 bits)",
                name_of(wanted), device.name, rate_key(wanted));
    }
    return "";
}

}  // namespace syncline

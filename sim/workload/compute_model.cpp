#include "sim/workload/compute_model.hpp"

#include <algorithm>

namespace syncline {

namespace {

std::vector<LayerTime> roofline(const Model& model, const Device& device, std::int64_t batch) {
    std::vector<LayerTime> times;
    const auto samples = static_cast<double>(batch);
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        const Layer& layer = model.layers[i];
        const double flops = 2 * static_cast<double>(layer.macs) * samples;
        const double elements =
            static_cast<double>(layer.inputs + layer.activations) * samples + static_cast<double>(layer.parameters);
        const double kernel_s =
            std::max(flops / device.flops_per_s, elements * model.element_bytes / device.memory_Bps);
        times.push_back({kernel_s, i == 0 ? kernel_s : 2 * kernel_s});
    }
    return times;
}

double total(const std::vector<LayerTime>& times) {
    double seconds = 0;
    for (const LayerTime& time : times) seconds += time.forward_s + time.backward_s;
    return seconds;
}

}  // namespace

std::vector<LayerTime> layer_times(const Model& model, const Device& device, std::int64_t batch) {
    std::vector<LayerTime> times = roofline(model, device, batch);
    const auto measured = std::find_if(device.calibration.begin(), device.calibration.end(),
                                       [&](const Calibration& row) { return row.workload == model.name; });
    if (measured == device.calibration.end()) return times;
    const double measured_s = static_cast<double>(measured->batch) / measured->samples_per_s;
    const double modelled_s = total(roofline(model, device, measured->batch));
    if (modelled_s == 0) return times;  // nothing to scale: layers that neither compute nor move anything
    const double factor = measured_s / modelled_s;
    for (LayerTime& time : times) {
        time.forward_s *= factor;
        time.backward_s *= factor;
    }
    return times;
}

}  // namespace syncline

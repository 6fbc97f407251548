#include "sim/workload/compute_model.hpp"

#include <algorithm>

namespace syncline {

namespace {

class Roofline : public ComputeModel {
public:
    Roofline(const Model& model, const Device& device) : model_(model), device_(device) {}

    LayerTime time(std::size_t number, const Share& share) const override {
        const Layer& layer = model_.layers[number];
        const double flops = 2 * static_cast<double>(layer.macs) * share.samples * share.part * share.area;
        const double inputs = static_cast<double>(layer.inputs) * share.area;
        const double outputs = static_cast<double>(layer.activations) * share.area * share.part;
        const double elements = (inputs + outputs) * share.samples + static_cast<double>(layer.parameters) * share.part;
        const double kernel_s =
            std::max(flops / device_.flops_per_s, elements * model_.element_bytes / device_.memory_Bps);
        return {kernel_s, number == 0 ? 0 : kernel_s, kernel_s};
    }

private:
    const Model& model_;
    const Device& device_;
};

/// Another model's times, all scaled by the same factor.
class Scaled : public ComputeModel {
public:
    Scaled(std::unique_ptr<const ComputeModel> inner, double factor) : inner_(std::move(inner)), factor_(factor) {}

    LayerTime time(std::size_t layer, const Share& share) const override {
        LayerTime time = inner_->time(layer, share);
        time.forward_s *= factor_;
        time.input_gradient_s *= factor_;
        time.weight_gradient_s *= factor_;
        return time;
    }

private:
    std::unique_ptr<const ComputeModel> inner_;
    double factor_;
};

/// Of all layers, whole.
std::vector<LayerTime> times_of(const ComputeModel& computation, std::size_t layers, std::int64_t batch) {
    std::vector<LayerTime> times;
    for (std::size_t layer = 0; layer < layers; ++layer)
        times.push_back(computation.time(layer, {.samples = static_cast<double>(batch)}));
    return times;
}

/// What the measurement of this model, if there is one, makes of the times of `modelled`.
double calibration_factor(const ComputeModel& modelled, const Model& model, const Device& device) {
    const auto measured = std::find_if(device.calibration.begin(), device.calibration.end(),
                                       [&](const Calibration& row) { return row.workload == model.name; });
    if (measured == device.calibration.end()) return 1;
    double modelled_s = 0;
    for (const LayerTime& time : times_of(modelled, model.layers.size(), measured->batch))
        modelled_s += time.forward_s + time.backward_s();
    if (modelled_s == 0) return 1;  // nothing to scale: layers that neither compute nor move anything
    return static_cast<double>(measured->batch) / measured->samples_per_s / modelled_s;
}

}  // namespace

std::unique_ptr<const ComputeModel> make_compute_model(ComputeKind kind, const Model& model, const Device& device) {
    auto roofline = std::make_unique<const Roofline>(model, device);
    if (kind != ComputeKind::calibrated) return roofline;
    const double factor = calibration_factor(*roofline, model, device);
    return std::make_unique<const Scaled>(std::move(roofline), factor);
}

std::vector<LayerTime> layer_times(const Model& model, const Device& device, std::int64_t batch, ComputeKind kind) {
    return times_of(*make_compute_model(kind, model, device), model.layers.size(), batch);
}

}  // namespace syncline

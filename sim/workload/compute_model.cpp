#include "sim/workload/compute_model.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/workload/kernel_time.hpp"

namespace syncline {

namespace {

/// Returns the times of all layers, undivided.
std::vector<LayerTime> times_of(const ComputeModel& computation, std::size_t layers, std::int64_t batch) {
    std::vector<LayerTime> times;
    for (std::size_t layer = 0; layer < layers; ++layer)
        times.push_back(computation.time(layer, {.samples = static_cast<double>(batch)}));
    return times;
}

constexpr double LayerTime::*parts_of_time[] = {
    &LayerTime::forward_s,         &LayerTime::input_gradient_s,   &LayerTime::weight_gradient_s,
    &LayerTime::core_forward_s,    &LayerTime::core_backward_s,    &LayerTime::inputs_forward_s,
    &LayerTime::outputs_forward_s, &LayerTime::outputs_backward_s, &LayerTime::stall_s,
    &LayerTime::core_again_s,      &LayerTime::alternate_s,        &LayerTime::host_bound_s,
    &LayerTime::inputs_backward_s, &LayerTime::inputs_weights_s};

LayerTime scaled(LayerTime time, double factor) {
    for (double LayerTime::*part : parts_of_time) time.*part *= factor;
    return time;
}

/// Adds the times; the bound is that of the first.
LayerTime sum(LayerTime time, const LayerTime& other) {
    for (double LayerTime::*part : parts_of_time) time.*part += other.*part;
    return time;
}

/// Another model's times, scaled by a factor that each measured batch determines. A larger batch takes longer in total,
/// but a layer that mostly moves its weights may take less time in the larger of two batches.
class Calibrated : public ComputeModel {
public:
    Calibrated(std::unique_ptr<const ComputeModel> inner, const Model& model, const Device& device)
        : inner_(std::move(inner)) {
        for (const Calibration& row : device.calibration)
            if (row.workload == model.name) batches_.push_back({static_cast<double>(row.batch), factor(model, row)});
        std::sort(batches_.begin(), batches_.end(),
                  [](const Batch& one, const Batch& other) { return one.samples < other.samples; });
    }

    LayerTime time(std::size_t layer, const Share& share) const override {
        const auto next = std::find_if(batches_.begin(), batches_.end(),
                                       [&](const Batch& batch) { return batch.samples >= share.samples; });
        if (next == batches_.begin()) return scaled(inner_->time(layer, share), next->factor);
        const Batch& last = *std::prev(next);
        if (next == batches_.end()) return scaled(inner_->time(layer, share), last.factor);
        const double way = (share.samples - last.samples) / (next->samples - last.samples);
        Share fewer = share, more = share;
        fewer.samples = last.samples;
        more.samples = next->samples;
        return sum(scaled(inner_->time(layer, more), next->factor * way),
                   scaled(inner_->time(layer, fewer), last.factor * (1 - way)));
    }

private:
    struct Batch {
        double samples, factor;
    };

    double factor(const Model& model, const Calibration& measured) const {
        double modelled_s = 0;
        for (const LayerTime& time : times_of(*inner_, model.layers.size(), measured.batch))
            modelled_s += time.forward_s + time.backward_s();
        if (modelled_s == 0) return 1;  // nothing to scale: no layer computes or moves anything
        return static_cast<double>(measured.batch) / measured.samples_per_s / modelled_s;
    }

    std::unique_ptr<const ComputeModel> inner_;
    std::vector<Batch> batches_;  ///< by samples
};

/// Another model's times, on a device that computes everything faster or more slowly.
class Paced : public ComputeModel {
public:
    Paced(std::unique_ptr<const ComputeModel> inner, double speed) : inner_(std::move(inner)), speed_(speed) {}

    LayerTime time(std::size_t layer, const Share& share) const override {
        return scaled(inner_->time(layer, share), 1 / speed_);
    }

    std::vector<TimedKernel> kernels(std::size_t layer, const Share& share) const override {
        std::vector<TimedKernel> kernels = inner_->kernels(layer, share);
        for (TimedKernel& kernel : kernels) kernel.seconds /= speed_;
        return kernels;
    }

private:
    std::unique_ptr<const ComputeModel> inner_;
    double speed_;
};

/// Measured times, scaled in proportion.
class Measured : public ComputeModel {
public:
    Measured(const Model& model, const MeasuredLayers& measured) {
        std::map<std::string, const MeasuredLayers::Layer*> by_name;
        for (const MeasuredLayers::Layer& layer : measured.layers) by_name[layer.name] = &layer;
        for (std::size_t number = 0; number < model.layers.size(); ++number) {
            const auto found = by_name.find(model.layers[number].name);
            if (found == by_name.end()) throw std::logic_error("a layer's time was not measured");
            const double each = 1 / static_cast<double>(measured.batch);
            const double inputs = has_input_gradient(model, number) ? 0.5 : 0;
            per_sample_.push_back({.forward_s = found->second->forward_s * each,
                                   .input_gradient_s = found->second->backward_s * each * inputs,
                                   .weight_gradient_s = found->second->backward_s * each * (1 - inputs)});
        }
    }

    LayerTime time(std::size_t layer, const Share& share) const override {
        const double samples = share.samples * share.fraction * share.area;
        const LayerTime& one = per_sample_[layer];
        return {one.forward_s * samples, one.input_gradient_s * samples, one.weight_gradient_s * samples};
    }

private:
    std::vector<LayerTime> per_sample_;
};

}  // namespace

std::vector<TimedKernel> ComputeModel::kernels(std::size_t, const Share&) const {
    return {};
}

const Calibration* calibration_of(const Device& device, const std::string& workload) {
    const auto found = std::find_if(device.calibration.begin(), device.calibration.end(),
                                    [&](const Calibration& row) { return row.workload == workload; });
    return found == device.calibration.end() ? nullptr : &*found;
}

const MeasuredLayers* measured_layers(const Device& device, const std::string& workload) {
    const auto found = std::find_if(device.layer_times.begin(), device.layer_times.end(),
                                    [&](const MeasuredLayers& row) { return row.workload == workload; });
    return found == device.layer_times.end() ? nullptr : &*found;
}

Factors factors_wanted(const Model& model, ProductKind kind) {
    const auto given = model.precision.products;
    if (given && (!narrow(*given) || kind == ProductKind::linear)) return *given;
    if (activation_element(model) <= 2) return Factors::half;
    return kind == ProductKind::convolution ? Factors::tf32 : Factors::fp32;
}

Factors factors_used(const Model& model, const Device& device, ProductKind kind) {
    const Factors wanted = factors_wanted(model, kind);
    const auto known = [&](Factors factors) { return device.kernels->product_rate(factors) > 0; };
    if (known(wanted)) return wanted;
    return wanted == Factors::tf32 && known(Factors::fp32) ? Factors::fp32 : Factors::half;
}

ComputeKind kind_used(ComputeKind kind, const std::string& workload, const Device& device) {
    if (kind != ComputeKind::calibrated || calibration_of(device, workload)) return kind;
    return device.kernels ? ComputeKind::tables : ComputeKind::roofline;
}

namespace {

std::unique_ptr<const ComputeModel> at_speed_one(ComputeKind kind, const Model& model, const Device& device,
                                                 const Software& software) {
    switch (kind_used(kind, model.name, device)) {
        case ComputeKind::roofline:
            break;
        case ComputeKind::im2col:
            return roofline_model(model, Lowering::im2col, device);
        case ComputeKind::efficiency:
            if (!device.efficiency) throw std::logic_error("the device has no efficiency curve");
            return roofline_model(model, Lowering::implicit, device, &*device.efficiency);
        case ComputeKind::tables:
            if (!device.kernels) throw std::logic_error("the device has no rates of kernels");
            if (const auto factors = model.precision.products; factors && device.kernels->product_rate(*factors) == 0)
                throw std::logic_error(std::string("the device has no rate of products of ") + name_of(*factors));
            return tables_model(model, device, software);
        case ComputeKind::measured:
            if (const MeasuredLayers* measured = measured_layers(device, model.name))
                return std::make_unique<const Measured>(model, *measured);
            throw std::logic_error("the device has no times of this model's layers");
        case ComputeKind::calibrated:
            return std::make_unique<const Calibrated>(at_speed_one(ComputeKind::roofline, model, device, software),
                                                      model, device);
    }
    return roofline_model(model, Lowering::implicit, device);
}

}  // namespace

std::unique_ptr<const ComputeModel> make_compute_model(ComputeKind kind, const Model& model, const Device& device,
                                                       Software software) {
    auto computation = at_speed_one(kind, model, device, software);
    if (device.speed == 1) return computation;
    return std::make_unique<const Paced>(std::move(computation), device.speed);
}

std::vector<LayerTime> layer_times(const Model& model, const Device& device, std::int64_t batch, ComputeKind kind,
                                   Software software) {
    return times_of(*make_compute_model(kind, model, device, software), model.layers.size(), batch);
}

}  // namespace syncline

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// How long a device computes on a layer, or on the part of it that is its own.
///
/// `roofline`: a kernel takes max(flops/F, bytes/M), with the device's peak F and memory bandwidth M. The forward pass
/// of a layer is one kernel of 2·macs·b flops that reads inputs and weights and writes activations; the gradient of the
/// weights and that of the inputs, which the first layer doesn't need, are two more of the same size.
/// Source: S. Williams, A. Waterman, D. Patterson, "Roofline", Commun. ACM 52(4), 2009.
///
/// `calibrated`: where the device has a measured throughput for the model, the roofline's times are scaled by one
/// factor, so that one device alone reaches it at the measured batch. The roofline then only says how that time is
/// split over the layers; optimiser, pooling, activations and framework overhead are within it.
namespace syncline {

enum class ComputeKind { calibrated, roofline, im2col, efficiency, measured };

/// The part of a layer that a rank computes at once.
struct Share {
    double samples = 1;
    double part = 1;  ///< of the layer's parts (see parts_of): output channels, heads, …
    double area = 1;  ///< of the image
};

struct LayerTime {
    double forward_s = 0;
    double input_gradient_s = 0;  ///< 0 of the first layer
    double weight_gradient_s = 0;

    double backward_s() const { return input_gradient_s + weight_gradient_s; }
};

class ComputeModel {
public:
    ComputeModel() = default;
    ComputeModel(const ComputeModel&) = delete;
    ComputeModel& operator=(const ComputeModel&) = delete;
    virtual ~ComputeModel() = default;

    /// Of the layer of that number, in forward order.
    virtual LayerTime time(std::size_t layer, const Share& share) const = 0;
};

/// `model` and `device` outlive it.
std::unique_ptr<const ComputeModel> make_compute_model(ComputeKind kind, const Model& model, const Device& device);

/// Seconds of each layer of `model` for a batch of `batch` samples, on one device.
std::vector<LayerTime> layer_times(const Model& model, const Device& device, std::int64_t batch,
                                   ComputeKind kind = ComputeKind::calibrated);

}  // namespace syncline

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/share.hpp"

/// How long a device computes on a layer, or on the part of it that is its own.
///
/// `roofline`: a kernel takes max(flops/F, bytes/M, l), with the device's peak F, its memory bandwidth M, and the least
/// time l that a kernel takes. The forward pass of a layer is one kernel, and so are the gradient of its weights and
/// that of its inputs, which the first layer doesn't need; transformers' layers are several each (Lowering::implicit in
/// kernels.hpp). Source: S. Williams, A. Waterman, D. Patterson, "Roofline", Commun. ACM 52(4), 2009.
///
/// `im2col`: the same, kernel by kernel as convolutions become matrix products (Lowering::im2col). A. Castelló et al.,
/// "Analysis of model parallelism for distributed neural networks", EuroMPI 2019.
///
/// `efficiency`: as roofline, with max(flops/(F·e), bytes/M, l), where the device's curve gives e for the samples at
/// once, or for the smallest of a matrix product's m, n and k. Work that is no matrix product has the curve's last e.
///
/// `calibrated`: the roofline's times, scaled so that one device alone reaches its measured throughput of the model.
/// Between measured batches times are linear in the samples at once, outside the nearest one's factor holds. The
/// roofline only splits that time over the layers; optimiser, pooling, activations, framework overhead are within it.
///
/// `measured`: what was measured for each layer, times samples/batch and the share of the layer. Half of a backward
/// time is for each of the two gradients where a layer computes both.
///
/// Left out: kernels that run side by side, clocks that fall with temperature, launches that are hidden behind other
/// kernels (they cost nothing as long as kernels take longer than l).
namespace syncline {

enum class ComputeKind { calibrated, roofline, im2col, efficiency, measured };

/// What decides how long a kernel takes: flops/F, bytes/M, or l.
enum class Bound { compute, memory, latency };

struct LayerTime {
    double forward_s = 0;
    double input_gradient_s = 0;  ///< 0 where has_input_gradient (kernels.hpp) says that there is none
    double weight_gradient_s = 0;
    double stall_s = 0;  ///< what moving takes beyond computing, kernel by kernel, within the three times
    /// Of the kernels that take most of the three times; nothing where these are measured, or nothing.
    std::optional<Bound> bound = std::nullopt;

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

/// `model` and `device` outlive it, and the device has what the kind needs: an efficiency curve, or times of every
/// layer of the model (measured_layers). Throws std::logic_error if not.
std::unique_ptr<const ComputeModel> make_compute_model(ComputeKind kind, const Model& model, const Device& device);

/// What was measured of `device` with the model of that name: its throughput (the first row, if there are several
/// batches), or the times of its layers. Null if nothing was.
const Calibration* calibration_of(const Device& device, const std::string& workload);
const MeasuredLayers* measured_layers(const Device& device, const std::string& workload);

/// Seconds of each layer of `model` for a batch of `batch` samples, on one device.
std::vector<LayerTime> layer_times(const Model& model, const Device& device, std::int64_t batch,
                                   ComputeKind kind = ComputeKind::calibrated);

}  // namespace syncline

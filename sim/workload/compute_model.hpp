#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/workload/kernels.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/share.hpp"

/// Models of the time that a device computes on a layer, or on its part of a layer.
///
/// `roofline`: a kernel takes max(flops/F, bytes/M, l), with the device's peak F, its memory bandwidth M, and the
/// minimum time l of a kernel, lowered by Lowering::implicit (kernels.hpp). Source: S. Williams, A. Waterman, D.
/// Patterson, "Roofline", Commun. ACM 52(4), 2009.
///
/// `im2col`: the same with Lowering::im2col. A. Castelló et al., "Analysis of model parallelism for distributed neural
/// networks", EuroMPI 2019.
///
/// `efficiency`: max(flops/(F·e), bytes/M, l), where the device's curve gives e as a function of the samples processed
/// together, or of the smallest of a matrix product's m, n and k (other work has the curve's last e).
///
/// `tables`: the device's measured rates of kernels (sim/platform/kernel_rates.hpp), at least l each, lowered by
/// Lowering::launched; products have the factors that `precision` names, or PyTorch's defaults (factors_wanted). With
/// eager launches (Launches) a pass of n kernels takes max(t, n·h): t on the device, and h on the host for each kernel
/// (KernelRates::host_launch_s), since the host runs ahead of the device. Passes are the forward pass, the backward
/// pass with both gradients, and the core alone where it is computed again. Parts of a layer have as many kernels as
/// the whole. Where the host waits for results w times (Kernel::waits), a pass takes at least t + w·h; with blocking
/// launches t + n·h. Sources: A. Paszke et al., "PyTorch: an imperative style, high-performance deep learning library",
/// NeurIPS 2019; J. Fernandez et al., "The framework tax", EMNLP 2023; NVIDIA, CUDA C++ programming guide
/// (CUDA_LAUNCH_BLOCKING).
///
/// `calibrated`: the roofline's times, scaled so that a single device reaches its measured throughput of the model, all
/// overheads included; without such a measurement `tables`, or `roofline` if the device has none. Between measured
/// batches times are linear in the number of samples; outside the factor of the nearest batch applies.
///
/// `measured`: the measured time of each layer, times samples/batch and the share of the layer. If a layer computes
/// both gradients, half of its backward time counts for each.
///
/// All times are divided by the device's `speed`, a factor to calibrate. Left out: kernels that run concurrently,
/// clocks that fall with temperature. Of launches: those of the optimizer's step, of collectives, of further chunks and
/// rounds of a layer; element-wise kernels that a framework does not fuse as the lowering does; Python between layers,
/// data loading, and a lead of the host from one layer to the next.
namespace syncline {

enum class ComputeKind { calibrated, roofline, im2col, efficiency, measured, tables };

/// Kernel launches: one by one (`eager`), the same with the host waiting for each (`blocking`: CUDA_LAUNCH_BLOCKING=1),
/// or captured once and launched together (`graph`: CUDA graphs), so that the host does not limit them.
enum class Launches { eager, blocking, graph };

/// How the framework runs kernels.
struct Software {
    Launches launches = Launches::eager;
    Elementwise elementwise = Elementwise::fused;
    /// Bytes that a product reads and writes for each element of a gradient of weights which it adds to those of other
    /// microbatches (Accumulation::fused); 0: it writes the gradient as an element of its own.
    double accumulated_bytes = 0;
};

/// The term that determines a kernel's time: flops/F, bytes/M, or l; or a pass's: its launches.
enum class Bound { compute, memory, latency, host };
constexpr std::size_t bound_kinds = 4;
constexpr const char* name_of(Bound bound) {
    constexpr const char* names[bound_kinds] = {"compute", "memory", "latency", "host"};  // by Bound
    return names[static_cast<std::size_t>(bound)];
}

struct LayerTime {
    double forward_s = 0;
    double input_gradient_s = 0;  ///< 0 if has_input_gradient (kernels.hpp) is false
    double weight_gradient_s = 0;
    /// The layer's core (Kernel::core) on the device, which is part of forward_s and of input_gradient_s.
    double core_forward_s = 0, core_backward_s = 0;
    double core_again_s = 0;  ///< its forward pass alone, with its launches
    double alternate_s = 0;   ///< forward pass without what is kept of every second product: see alternate.hpp
    /// The products at the layer's edges (Kernel::edge), which are part of the same: those that read its inputs, and
    /// those that give its outputs, or the gradients of what they read.
    double inputs_forward_s = 0, outputs_forward_s = 0, outputs_backward_s = 0;
    /// The products that read its inputs again: their gradients of the inputs and of the weights; 0: not known apart.
    double inputs_backward_s = 0, inputs_weights_s = 0;
    double stall_s = 0;  ///< time for moving data beyond the time for computing, per kernel; part of the three times
    /// Bound of the kernels that take most of the three times, or `host` if more of them is host_bound_s; nothing if
    /// these are measured, or zero.
    std::optional<Bound> bound = std::nullopt;
    double host_bound_s = 0;  ///< time for which the device waits for launches; part of the three times

    bool operator==(const LayerTime&) const = default;
    double backward_s() const { return input_gradient_s + weight_gradient_s; }
    /// Returns the time of the gradients of weights that do not multiply the layer's inputs.
    double other_weights_s() const { return weight_gradient_s - inputs_weights_s; }
};

/// A kernel of a layer's pass.
struct TimedKernel {
    std::string name;
    Pass pass = Pass::forward;
    std::int64_t count = 1;  ///< how often the pass runs it
    double seconds = 0;      ///< of each, on the device
    Bound bound = Bound::compute;
};

class ComputeModel {
public:
    ComputeModel() = default;
    ComputeModel(const ComputeModel&) = delete;
    ComputeModel& operator=(const ComputeModel&) = delete;
    virtual ~ComputeModel() = default;

    /// Returns the times of the layer with this number, in forward order.
    virtual LayerTime time(std::size_t layer, const Share& share) const = 0;

    /// Returns the kernels whose times, with host_bound_s, are the layer's; none if its times are measured as a whole.
    virtual std::vector<TimedKernel> kernels(std::size_t layer, const Share& share) const;
};

/// `model` and `device` must outlive the result, and the device must have what the kind needs: an efficiency curve,
/// rates of kernels, or times of every layer of the model (measured_layers). Throws std::logic_error otherwise.
std::unique_ptr<const ComputeModel> make_compute_model(ComputeKind kind, const Model& model, const Device& device,
                                                       Software software = {});

/// Products that differ in their factors: convolutions, products with weights inside a transformer's layers, others.
enum class ProductKind { product, convolution, linear };

/// Returns the factors of a model's products: those of Precision::products; or 16-bit ones if activations have 2 bytes
/// or less; or else those of PyTorch's defaults, fp32 for products and tf32 for convolutions (torch.backends.cuda.
/// matmul.allow_tf32 is false, torch.backends.cudnn.allow_tf32 true).
Factors factors_wanted(const Model& model, ProductKind kind);

/// Returns the same, if the device's measured rates of kernels have one for them. Otherwise fp32 in place of tf32, as
/// on devices before it; or else 16-bit factors.
Factors factors_used(const Model& model, const Device& device, ProductKind kind);

/// Returns the kind that determines the times: for `calibrated` without a calibration, `tables` or `roofline`.
ComputeKind kind_used(ComputeKind kind, const std::string& workload, const Device& device);

/// Return the measurements of `device` with the model of that name: its throughput (the first row, if there are several
/// batches), or the times of its layers. Null if there are none.
const Calibration* calibration_of(const Device& device, const std::string& workload);
const MeasuredLayers* measured_layers(const Device& device, const std::string& workload);

/// Returns the times in seconds of each layer of `model` for a batch of `batch` samples, on one device.
std::vector<LayerTime> layer_times(const Model& model, const Device& device, std::int64_t batch,
                                   ComputeKind kind = ComputeKind::calibrated, Software software = {});

}  // namespace syncline

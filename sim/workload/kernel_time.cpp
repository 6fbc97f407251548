#include "sim/workload/kernel_time.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "sim/workload/alternate.hpp"

namespace syncline {

namespace {

struct KernelTime {
    double seconds = 0;
    double stall_s = 0;  ///< time for moving data beyond the time for computing
    Bound bound = Bound::compute;
};

class Roofline {
public:
    Roofline(const Device& device, const EfficiencyCurve* curve) : device_(device), curve_(curve) {}

    KernelTime time(const Kernel& kernel, double bytes, const Share& share) const {
        const std::array<double, 3> needs_s{
            kernel.flops / (device_.flops_per_s * efficiency(kernel, share)),
            bytes / device_.memory_Bps,
            device_.kernel_latency_s,
        };
        const auto longest = std::max_element(needs_s.begin(), needs_s.end());
        return {*longest, std::max(0.0, needs_s[1] - needs_s[0]), static_cast<Bound>(longest - needs_s.begin())};
    }

private:
    /// Returns the fraction of the peak that a kernel reaches.
    double efficiency(const Kernel& kernel, const Share& share) const {
        if (curve_ == nullptr) return 1;
        if (curve_->over == EfficiencyCurve::Over::batch) return curve_->at(share.samples);
        return kernel.product ? curve_->at(kernel.product->narrowest()) : curve_->points.back().fraction;
    }

    const Device& device_;
    const EfficiencyCurve* curve_;
};

class Tables {
public:
    Tables(const Device& device, const Model& model)
        : rates_(*device.kernels),
          latency_s_(device.kernel_latency_s),
          channels_last_(activation_element(model) <= 2),
          products_(factors_used(model, device, ProductKind::product)),
          convolutions_(factors_used(model, device, ProductKind::convolution)),
          linear_(factors_used(model, device, ProductKind::linear)) {}

    KernelTime time(const Kernel& kernel, double bytes, const Share&) const {
        const Factors factors = kernel.convolution ? convolutions_ : kernel.linear ? linear_ : products_;
        const double rate =
            kernel.attention ? rates_.attention_rate(*kernel.attention, factors) : rates_.product_rate(factors);
        const double computing_s = kernel.flops / rate, moving_s = bytes / memory_Bps(kernel);
        // Kernels that do no arithmetic wait for the memory, at the rate of their kind.
        const bool moves_only = !kernel.product && kernel.flops == 0 && kernel.kind != Pointwise::other;
        double busy_s =
            kernel.grouped       ? rates_.grouped_s(*kernel.grouped, *kernel.product, bytes, factors) - rates_.fixed_s
            : kernel.convolution ? rates_.convolution_s(*kernel.convolution, bytes, factors) - rates_.fixed_s
            : kernel.product     ? rates_.product_s(*kernel.product, bytes, factors, kernel.weights) - rates_.fixed_s
            : moves_only         ? rates_.pointwise_s(kernel.kind, bytes) - rates_.fixed_s
                                 : std::max(computing_s, moving_s);
        // The buffer of a gradient is in no cache.
        if (kernel.weights && kernel.product) busy_s = std::max(busy_s, moving_s);
        KernelTime time{std::max(rates_.fixed_s + busy_s, latency_s_)};
        const bool moves = moves_only ? busy_s > 0 : moving_s >= busy_s && moving_s > computing_s;
        if (moves) time.stall_s = (moves_only ? busy_s : moving_s) - computing_s;
        if (time.seconds - busy_s >= busy_s)
            time.bound = Bound::latency;
        else
            time.bound = moves ? Bound::memory : Bound::compute;
        return time;
    }

private:
    double memory_Bps(const Kernel& kernel) const {
        if (!kernel.image || !rates_.images) return rates_.memory_Bps;
        const auto measured = rates_.images->rate(*kernel.image, channels_last_);
        return measured ? *measured * rates_.memory_speed : rates_.memory_Bps;
    }

    const KernelRates& rates_;
    double latency_s_;
    bool channels_last_;
    Factors products_, convolutions_, linear_;
};

/// Time of the host to issue a kernel, in the forward and in the backward pass.
struct HostLaunch {
    double forward_s = 0, backward_s = 0;
};

template <class Clock>
class KernelByKernel : public ComputeModel {
public:
    /// `element_bytes`: of what kernels move; `launch`: time of the host for each kernel, for which a pass waits as
    /// `software` says.
    KernelByKernel(const Model& model, Lowering lowering, Clock clock, double element_bytes, HostLaunch launch = {},
                   Software software = {}, Operations operations = {})
        : model_(model),
          lowering_(lowering),
          clock_(clock),
          element_bytes_(element_bytes),
          launch_(launch),
          software_(software),
          operations_(operations) {}

    LayerTime time(std::size_t layer, const Share& share) const override {
        LayerTime total;
        std::array<double, bound_kinds> bound_s{};  // by Bound
        double core = 0;                            // kernels of the core's forward pass
        const auto run = [&](Pass pass) {
            double pass_s = 0, launched = 0, waits = 0;
            each(layer, pass, share, [&](const Kernel& kernel, const KernelTime& one) {
                const auto count = static_cast<double>(kernel.count);
                pass_s += count * one.seconds;
                launched += count;
                if (kernel.waits && software_.launches == Launches::eager) ++waits;
                if (kernel.core && pass == Pass::forward) {
                    total.core_forward_s += count * one.seconds;
                    core += count;
                }
                if (kernel.core && pass == Pass::input_gradient) total.core_backward_s += count * one.seconds;
                if (pass == Pass::forward && kernel.edge == Edge::inputs) total.inputs_forward_s += count * one.seconds;
                if (pass == Pass::forward && kernel.edge == Edge::outputs)
                    total.outputs_forward_s += count * one.seconds;
                if (pass == Pass::input_gradient && kernel.edge == Edge::outputs)
                    total.outputs_backward_s += count * one.seconds;
                if (pass == Pass::input_gradient && kernel.edge == Edge::inputs)
                    total.inputs_backward_s += count * one.seconds;
                if (pass == Pass::weight_gradient && kernel.edge == Edge::inputs)
                    total.inputs_weights_s += count * one.seconds;
                total.stall_s += count * one.stall_s;
                bound_s[static_cast<std::size_t>(one.bound)] += count * one.seconds;
            });
            return std::tuple(pass_s, launched, waits);
        };
        const auto [forward_s, forward, waits] = run(Pass::forward);
        const auto [inputs_s, inputs, none] = run(Pass::input_gradient);
        const auto [weights_s, weights, neither] = run(Pass::weight_gradient);
        // After a wait the device is idle until the host has issued one kernel.
        const double forward_wait_s =
            std::max(waiting_s(forward_s, forward * launch_.forward_s), waits * launch_.forward_s);
        const double backward_wait_s = waiting_s(inputs_s + weights_s, (inputs + weights) * launch_.backward_s);
        // The host issues the kernels of both gradients in turn: each waits in proportion to its kernels.
        const double inputs_wait_s = backward_wait_s > 0 ? backward_wait_s * inputs / (inputs + weights) : 0;
        total.forward_s = forward_s + forward_wait_s;
        total.input_gradient_s = inputs_s + inputs_wait_s;
        total.weight_gradient_s = weights_s + (backward_wait_s - inputs_wait_s);
        total.core_again_s = total.core_forward_s + waiting_s(total.core_forward_s, core * launch_.forward_s);
        double again_s = 0, again = 0;
        for (const Kernel& kernel : kernels_again(model_.layers[layer], share, operations_)) {
            const auto count = static_cast<double>(kernel.count);
            again_s += count * clock_.time(kernel, bytes_of(kernel), share).seconds;
            again += count;
        }
        total.alternate_s = again_s + waiting_s(again_s, again * launch_.forward_s);
        total.host_bound_s = forward_wait_s + backward_wait_s;
        bound_s[static_cast<std::size_t>(Bound::host)] = total.host_bound_s;
        const auto most = std::max_element(bound_s.begin(), bound_s.end());
        if (*most > 0) total.bound = static_cast<Bound>(most - bound_s.begin());
        return total;
    }

    std::vector<TimedKernel> kernels(std::size_t layer, const Share& share) const override {
        std::vector<TimedKernel> all;
        for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient})
            each(layer, pass, share, [&](const Kernel& kernel, const KernelTime& one) {
                all.push_back({kernel.name, pass, kernel.count, one.seconds, one.bound});
            });
        return all;
    }

private:
    /// Visits the kernels of a pass that exist, with their times.
    template <class Visitor>
    void each(std::size_t layer, Pass pass, const Share& share, Visitor visit) const {
        if (pass == Pass::input_gradient && !has_input_gradient(model_, layer)) return;
        for (const Kernel& kernel : syncline::kernels(model_.layers[layer], pass, share, lowering_, operations_)) {
            const double bytes = bytes_of(kernel);
            if (!kernel.cast || bytes > 0) visit(kernel, clock_.time(kernel, bytes, share));
        }
    }

    /// Returns what a kernel moves; 0 if it casts to no smaller size, and so does not exist.
    double bytes_of(const Kernel& kernel) const {
        if (kernel.weights && kernel.product && software_.accumulated_bytes > 0) {
            const double results = kernel.product->m * kernel.product->n * kernel.product->batch;
            return kernel.moved(element_bytes_) + results * (software_.accumulated_bytes - element_bytes_);
        }
        if (!kernel.cast) return kernel.moved(element_bytes_);
        const double weight = weight_element(model_);
        return weight <= element_bytes_ ? 0 : kernel.elements * (weight + element_bytes_);
    }

    /// Returns for how long a pass of this time on the device waits for launches that take this time.
    double waiting_s(double device_s, double launching_s) const {
        switch (software_.launches) {
            case Launches::eager:
                return std::max(0.0, launching_s - device_s);
            case Launches::blocking:
                return launching_s;
            case Launches::graph:
                break;
        }
        return 0;
    }

    const Model& model_;
    Lowering lowering_;
    Clock clock_;
    double element_bytes_;
    HostLaunch launch_;
    Software software_;
    Operations operations_;
};

}  // namespace

std::unique_ptr<const ComputeModel> roofline_model(const Model& model, Lowering lowering, const Device& device,
                                                   const EfficiencyCurve* curve) {
    return std::make_unique<const KernelByKernel<Roofline>>(model, lowering, Roofline(device, curve),
                                                            model.element_bytes);
}

std::unique_ptr<const ComputeModel> tables_model(const Model& model, const Device& device, const Software& software) {
    const KernelRates& rates = *device.kernels;
    // The device's speed, by which all times are divided, does not make the host faster.
    const HostLaunch launch{rates.host_launch_s * device.speed,
                            rates.host_launch_backward_s.value_or(rates.host_launch_s) * device.speed};
    return std::make_unique<const KernelByKernel<Tables>>(model, Lowering::launched, Tables(device, model),
                                                          activation_element(model), launch, software,
                                                          Operations{software.elementwise, model.precision.autocast});
}

}  // namespace syncline

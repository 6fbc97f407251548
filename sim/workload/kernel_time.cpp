#include "sim/workload/kernel_time.hpp"

#include <algorithm>
#include <array>

namespace syncline {

namespace {

class Roofline : public KernelClock {
public:
    Roofline(const Device& device, const EfficiencyCurve* curve) : device_(device), curve_(curve) {}

    KernelTime time(const Kernel& kernel, double bytes, const Share& share) const override {
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
        return kernel.product ? curve_->at(kernel.product->narrowest()) : curve_->points.back().part;
    }

    const Device& device_;
    const EfficiencyCurve* curve_;
};

class Tables : public KernelClock {
public:
    Tables(const Device& device, bool fp8_products)
        : rates_(*device.kernels), latency_s_(device.kernel_latency_s), fp8_products_(fp8_products) {}

    KernelTime time(const Kernel& kernel, double bytes, const Share&) const override {
        const double products = fp8_products_ && kernel.linear ? rates_.narrow_flops_per_s : rates_.product_flops_per_s;
        const double rate = kernel.attention ? rates_.attention_flops_per_s : products;
        const double computing_s = kernel.flops / rate, moving_s = bytes / rates_.memory_Bps;
        const double busy_s =
            kernel.product ? product_s(kernel, bytes) - rates_.fixed_s : std::max(computing_s, moving_s);
        KernelTime time{std::max(rates_.fixed_s + busy_s, latency_s_)};
        const bool moves = moving_s >= busy_s && moving_s > computing_s;
        if (moves) time.stall_s = moving_s - computing_s;
        if (time.seconds - busy_s >= busy_s)
            time.bound = Bound::latency;
        else
            time.bound = moves ? Bound::memory : Bound::compute;
        return time;
    }

private:
    double product_s(const Kernel& kernel, double bytes) const {
        return fp8_products_ && kernel.linear ? rates_.narrow_product_s(*kernel.product, bytes)
                                              : rates_.product_s(*kernel.product, bytes);
    }

    const KernelRates& rates_;
    double latency_s_;
    bool fp8_products_;
};

}  // namespace

std::unique_ptr<const KernelClock> roofline_clock(const Device& device, const EfficiencyCurve* curve) {
    return std::make_unique<const Roofline>(device, curve);
}

std::unique_ptr<const KernelClock> table_clock(const Device& device, bool fp8_products) {
    return std::make_unique<const Tables>(device, fp8_products);
}

LayerTime KernelByKernel::time(std::size_t layer, const Share& share) const {
    LayerTime total;
    std::array<double, 3> bound_s{};  // by Bound
    const auto run = [&](Pass pass) {
        double pass_s = 0;
        for (const Kernel& kernel : kernels(model_.layers[layer], pass, share, lowering_)) {
            const auto count = static_cast<double>(kernel.count);
            const KernelTime one = clock_->time(kernel, kernel.moved(model_.element_bytes), share);
            pass_s += count * one.seconds;
            if (kernel.core && pass == Pass::forward) total.core_forward_s += count * one.seconds;
            if (kernel.core && pass == Pass::input_gradient) total.core_backward_s += count * one.seconds;
            total.stall_s += count * one.stall_s;
            bound_s[static_cast<std::size_t>(one.bound)] += count * one.seconds;
        }
        return pass_s;
    };
    total.forward_s = run(Pass::forward);
    if (has_input_gradient(model_, layer)) total.input_gradient_s = run(Pass::input_gradient);
    total.weight_gradient_s = run(Pass::weight_gradient);
    const auto most = std::max_element(bound_s.begin(), bound_s.end());
    if (*most > 0) total.bound = static_cast<Bound>(most - bound_s.begin());
    return total;
}

}  // namespace syncline

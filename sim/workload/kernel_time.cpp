#include "sim/workload/kernel_time.hpp"

#include <algorithm>
#include <array>

namespace syncline {

double KernelByKernel::efficiency(const Kernel& kernel, const Share& share) const {
    if (curve_ == nullptr) return 1;
    if (curve_->over == EfficiencyCurve::Over::batch) return curve_->at(share.samples);
    return kernel.narrowest > 0 ? curve_->at(kernel.narrowest) : curve_->points.back().part;
}

LayerTime KernelByKernel::time(std::size_t layer, const Share& share) const {
    LayerTime total;
    std::array<double, 3> bound_s{};  // by Bound
    const auto run = [&](Pass pass) {
        double pass_s = 0;
        for (const Kernel& kernel : kernels(model_.layers[layer], pass, share, lowering_)) {
            const auto count = static_cast<double>(kernel.count);
            const std::array<double, 3> needs_s{
                kernel.flops / (device_.flops_per_s * efficiency(kernel, share)),
                kernel.elements * model_.element_bytes / device_.memory_Bps,
                device_.kernel_latency_s,
            };
            const auto longest = std::max_element(needs_s.begin(), needs_s.end());
            pass_s += count * *longest;
            if (kernel.core && pass == Pass::forward) total.core_s += count * *longest;
            total.stall_s += count * std::max(0.0, needs_s[1] - needs_s[0]);
            bound_s[static_cast<std::size_t>(longest - needs_s.begin())] += count * *longest;
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

#pragma once

#include <memory>

#include "sim/workload/compute_model.hpp"
#include "sim/workload/kernels.hpp"

/// Compute models that add up the times of kernels: roofline, im2col, efficiency, tables (see compute_model.hpp).
namespace syncline {

struct KernelTime {
    double seconds = 0;
    double stall_s = 0;  ///< time for moving data beyond the time for computing
    Bound bound = Bound::compute;
};

/// The time of one kernel.
class KernelClock {
public:
    KernelClock() = default;
    KernelClock(const KernelClock&) = delete;
    KernelClock& operator=(const KernelClock&) = delete;
    virtual ~KernelClock() = default;

    /// `bytes`: what the kernel reads and writes; `share`: the rank's part of the layer.
    virtual KernelTime time(const Kernel& kernel, double bytes, const Share& share) const = 0;
};

/// The roofline, at the peak if `curve` is null, otherwise at the curve's part of it.
std::unique_ptr<const KernelClock> roofline_clock(const Device& device, const EfficiencyCurve* curve = nullptr);

/// The measured rates of the device's kernels, which it must have, with the factors that the model's products have.
std::unique_ptr<const KernelClock> table_clock(const Device& device, const Model& model);

/// Time of the host to issue a kernel, in the forward and in the backward pass.
struct HostLaunch {
    double forward_s = 0, backward_s = 0;
};

class KernelByKernel : public ComputeModel {
public:
    /// `element_bytes`: of what kernels move; `launch`: time of the host for each kernel, for which a pass waits as
    /// `software` says.
    KernelByKernel(const Model& model, Lowering lowering, std::unique_ptr<const KernelClock> clock,
                   double element_bytes, HostLaunch launch = {}, Software software = {}, Operations operations = {})
        : model_(model),
          lowering_(lowering),
          clock_(std::move(clock)),
          element_bytes_(element_bytes),
          launch_(launch),
          software_(software),
          operations_(operations) {}

    LayerTime time(std::size_t layer, const Share& share) const override;
    std::vector<TimedKernel> kernels(std::size_t layer, const Share& share) const override;

private:
    /// Visits the kernels of a pass that exist, with their times.
    template <class Visitor>
    void each(std::size_t layer, Pass pass, const Share& share, Visitor visit) const;

    /// Returns what a kernel moves; 0 if it casts to no smaller size, and so does not exist.
    double bytes_of(const Kernel& kernel) const;

    /// Returns for how long a pass of this time on the device waits for launches that take this time.
    double waiting_s(double device_s, double launching_s) const;

    const Model& model_;
    Lowering lowering_;
    std::unique_ptr<const KernelClock> clock_;
    double element_bytes_;
    HostLaunch launch_;
    Software software_;
    Operations operations_;
};

}  // namespace syncline

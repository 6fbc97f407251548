#pragma once

#include "sim/workload/compute_model.hpp"
#include "sim/workload/kernels.hpp"

/// Compute models that add up the times of kernels: roofline, im2col, efficiency (see compute_model.hpp).
namespace syncline {

class KernelByKernel : public ComputeModel {
public:
    /// `curve`: the device's efficiency curve; null: kernels reach the peak.
    KernelByKernel(const Model& model, const Device& device, Lowering lowering, const EfficiencyCurve* curve = nullptr)
        : model_(model), device_(device), lowering_(lowering), curve_(curve) {}

    LayerTime time(std::size_t layer, const Share& share) const override;

private:
    /// Returns the fraction of the peak that a kernel reaches.
    double efficiency(const Kernel& kernel, const Share& share) const;

    const Model& model_;
    const Device& device_;
    Lowering lowering_;
    const EfficiencyCurve* curve_;
};

}  // namespace syncline

#pragma once

#include <memory>

#include "sim/workload/compute_model.hpp"
#include "sim/workload/kernels.hpp"

/// Compute models that add up the times of kernels: roofline, im2col, efficiency, tables (see compute_model.hpp).
namespace syncline {

/// A roofline, at the peak if `curve` is null, otherwise at the curve's part of it. The host issues kernels in no time.
std::unique_ptr<const ComputeModel> roofline_model(const Model& model, Lowering lowering, const Device& device,
                                                   const EfficiencyCurve* curve = nullptr);

/// The measured rates of the device's kernels, which it must have, with the factors that the model's products have. A
/// pass waits for the host to issue kernels as `software` says.
std::unique_ptr<const ComputeModel> tables_model(const Model& model, const Device& device, const Software& software);

}  // namespace syncline

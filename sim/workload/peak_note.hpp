#pragma once

#include <string>

#include "sim/workload/compute_model.hpp"

/// Notes about compute times that no measurement of the workload supports: the roofline at the device's peak, which
/// devices seldom reach, and measured rates of kernels.
namespace syncline {

/// Returns a sentence without a full stop that says what times of this kind rest on; empty if they derive from a
/// calibration, an efficiency curve or measured times of layers. It ends with the range of the error of such
/// predictions, unless they are of measured kernels and the caller knows the range of `nearer_runs`.
std::string peak_note(ComputeKind kind, const std::string& workload, const Device& device, bool nearer_runs = false);

/// Returns a note if the model's products have factors of whose products the device's measured rates of kernels have no
/// rate, so that those of 16-bit factors stand for them; empty otherwise.
std::string missing_rate_note(ComputeKind kind, const Model& model, const Device& device);

}  // namespace syncline

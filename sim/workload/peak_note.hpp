#pragma once

#include <string>

#include "sim/workload/compute_model.hpp"

/// Notes about compute times without a measurement: the roofline at the device's peak, which devices seldom reach.
namespace syncline {

/// Returns a sentence without a full stop if times of this kind assume the peak; empty if they derive from a
/// calibration, an efficiency curve or measured times of layers.
std::string peak_note(ComputeKind kind, const std::string& workload, const Device& device);

}  // namespace syncline

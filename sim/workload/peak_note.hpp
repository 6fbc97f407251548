#pragma once

#include <string>

#include "sim/workload/compute_model.hpp"

/// Compute times that no measurement stands behind: the roofline at the device's peak, which devices seldom reach.
namespace syncline {

/// A sentence, without a full stop, where times of this kind are such; empty where a calibration, an efficiency curve
/// or times of layers are behind them.
std::string peak_note(ComputeKind kind, const std::string& workload, const Device& device);

}  // namespace syncline

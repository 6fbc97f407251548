#pragma once

#include <string>

#include "sim/lowering/lowered.hpp"

/// Passes of layers whose kernels the host issues more slowly than the device computes them (LayerTime::host_bound_s).
namespace syncline {

/// Returns a sentence without a full stop that says for which part of the layers' forward and backward passes the
/// device waits for launches; empty if that is less than 1 %.
std::string host_bound_note(const Lowered& training);

}  // namespace syncline

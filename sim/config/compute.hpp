#pragma once

#include "sim/config/fields.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// The choice of a compute model, and what it needs of the device.
namespace syncline::config {

/// The key `compute`.
void describe_compute(Fields& fields, ComputeKind& kind);

/// Rejects `compute` where the device does not say what the model needs.
void check_compute(Fields& fields, ComputeKind kind, const Model& model, const Device& device);

}  // namespace syncline::config

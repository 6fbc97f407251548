#pragma once

#include "sim/document/fields.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/workload/compute_model.hpp"
#include "sim/workload/model.hpp"

/// Reads the choice of a compute model, and checks what the model needs of the device.
namespace syncline::config {

/// Describes the key `compute`.
void describe_compute(Fields& fields, ComputeKind& kind);

/// Rejects `compute` if the device does not give what the model needs.
void check_compute(Fields& fields, ComputeKind kind, const Model& model, const Device& device);

}  // namespace syncline::config

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/compute_model.hpp"

/// A model layer by layer on one device: what each holds, produces and computes, how long that takes, and what decides
/// it. Exchanges, the optimiser's step and the input's copy are left out.
namespace syncline {

struct LayerRow {
    std::string name;
    std::int64_t parameters = 0;
    std::int64_t macs = 0;        ///< multiply-accumulates of the forward pass, per sample
    double activation_bytes = 0;  ///< of its outputs, for the batch
    LayerTime time;               ///< for the batch
};

struct LayerTable {
    std::string workload, device;
    ComputeKind compute = ComputeKind::roofline;  ///< what was used: the roofline where there is no calibration
    std::int64_t batch = 1;
    std::vector<LayerRow> layers;  ///< in forward order
    LayerRow total;                ///< its bound is the one of the layers that take most of the time
    std::vector<std::string> notes = {};
};

LayerTable layer_table(const Model& model, const Device& device, std::int64_t batch, ComputeKind compute);

}  // namespace syncline

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/compute_model.hpp"

/// Table of a model's layers on one device: for each layer its parameters, outputs, computation, time, and the bound of
/// that time. Exchanges, the optimizer's step and the input's copy are left out.
namespace syncline {

struct LayerRow {
    std::string name;
    std::int64_t parameters = 0;
    std::int64_t macs = 0;        ///< multiply-accumulates of the forward pass, per sample
    double activation_bytes = 0;  ///< size of its outputs, for the batch
    LayerTime time;               ///< for the batch
};

struct LayerTable {
    std::string workload, device;
    ComputeKind compute = ComputeKind::roofline;  ///< kind that was used (see kind_used)
    std::int64_t batch = 1;
    std::vector<LayerRow> layers;  ///< in forward order
    LayerRow total;                ///< its bound is that of the layers that take most of the time
    std::vector<std::string> notes = {};
};

LayerTable layer_table(const Model& model, const Device& device, std::int64_t batch, ComputeKind compute);

}  // namespace syncline

#pragma once

#include <cstdint>
#include <vector>

#include "sim/document/fields.hpp"
#include "sim/workload/model.hpp"

/// Reads an entry of a workload's list of layers: its keys, which depend on its kind, and the layers that it describes.
namespace syncline::config {

/// Settings of a workload for all of its layers.
struct LayerDefaults {
    std::int64_t positions = 0;
    Scores scores = Scores::flash;
    bool causal = false;
};

/// Reads an entry and returns its layers, or none if something is wrong, which is rejected. `above`: the layers before
/// it, among which a tied layer must find the table that it shares.
std::vector<Layer> describe_layer(Fields& fields, const LayerDefaults& defaults, const std::vector<Layer>& above);

}  // namespace syncline::config

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/document/fields.hpp"
#include "sim/workload/model.hpp"

/// Reads an entry of a workload's list of layers: its keys, which depend on its kind, and the layers that it describes.
namespace syncline::config {

/// The keys of an entry of any kind.
struct LayerKeys {
    std::string name;
    int kind = 0;
    std::vector<std::int64_t> input{1, 1, 1}, kernel{1, 1}, stride{1, 1}, padding{0, 0};
    std::int64_t filters = 1, groups = 1, outputs = 1;
    std::int64_t positions = 0;  ///< 0: given neither here nor by the workload's `sequence`
    std::int64_t width = 1, heads = 1, hidden = 1, vocabulary = 1, segments = 0, repeat = 1;
    bool bias = false, batch_norm = false, norm = false, gathered = true, tied = false, learned_positions = true;
    Layer counts;
};

void visit(Fields& fields, LayerKeys& keys);

/// Returns the names of an entry's layers: its own, or NAME1.attention, NAME1.feed-forward, NAME2.attention, … for a
/// transformer.
std::vector<std::string> layer_names(const LayerKeys& keys);

/// Returns an entry's layers, or none if something is wrong, which is rejected. `above` are the layers before it, among
/// which a tied layer must find the table that it shares.
std::vector<Layer> make_layers(Fields& fields, const LayerKeys& keys, const std::vector<Layer>& above);

}  // namespace syncline::config

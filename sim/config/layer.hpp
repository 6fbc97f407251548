#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/workload/model.hpp"

/// An entry of a workload's list of layers: its keys, which depend on its kind, and the layers that it stands for.
namespace syncline::config {

/// What an entry says, whatever its kind.
struct LayerKeys {
    std::string name;
    int kind = 0;
    std::vector<std::int64_t> input{1, 1, 1}, kernel{1, 1}, stride{1, 1}, padding{0, 0};
    std::int64_t filters = 1, groups = 1, outputs = 1;
    std::int64_t positions = 0;  ///< 0: neither here nor by the workload's sequence
    std::int64_t width = 1, heads = 1, hidden = 1, vocabulary = 1, segments = 0, repeat = 1;
    bool bias = false, batch_norm = false, norm = false, gathered = true, tied = false, learned_positions = true;
    Layer counts;
};

void visit(Fields& fields, LayerKeys& keys);

/// The names of an entry's layers: its own, or NAME1.attention, NAME1.feed-forward, NAME2.attention, … of a
/// transformer's.
std::vector<std::string> layer_names(const LayerKeys& keys);

/// An entry's layers; none, where something is wrong, which is rejected. `above` are those before it, among which a
/// tied layer must find the table that it shares.
std::vector<Layer> make_layers(Fields& fields, const LayerKeys& keys, const std::vector<Layer>& above);

}  // namespace syncline::config

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/document/fields.hpp"
#include "sim/workload/model.hpp"

/// The keys of an entry of a workload's list of layers.
namespace syncline::config {

/// The keys of an entry of any kind.
struct LayerKeys {
    std::string name;
    int kind = 0;
    std::vector<std::int64_t> input{1, 1, 1}, kernel{1, 1}, stride{1, 1}, padding{0, 0}, patch{1, 1};
    std::int64_t filters = 1, groups = 1, outputs = 1;
    std::int64_t positions = 0;  ///< 0: given neither here nor by the workload's `sequence`
    std::int64_t width = 1, hidden = 1, vocabulary = 1, segments = 0, repeat = 1, extra = 0;
    bool bias = false, batch_norm = false, gathered = true, tied = false, learned_positions = true;
    bool gated = false, merged_gate = false, dropout = true;
    bool activation = true, residual = false, joined = false, shared_input = false;
    int pool = 0;  ///< none, max, average
    std::int64_t pool_window = 2, pool_stride = 0;
    Norm norm = Norm::none;
    Attention attention;                      ///< what only attention has
    int parallel = 0;                         ///< none, one-norm, two-norms
    Experts experts;                          ///< what only experts have
    std::vector<std::int64_t> rows, lookups;  ///< by table
    Layer counts;
};

/// Describes all keys; `kinds` are the words for LayerKeys::kind.
void visit(Fields& fields, LayerKeys& keys, const std::vector<std::string>& kinds);

}  // namespace syncline::config

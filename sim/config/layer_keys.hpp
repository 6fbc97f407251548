#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/document/fields.hpp"
#include "sim/workload/model.hpp"

/// Entries of a workload's list of layers: their kinds, their keys, and the layers that they describe.
namespace syncline::config {

/// The keys of an entry of any kind.
struct LayerKeys {
    std::string name;
    int kind = 0;
    std::vector<std::int64_t> input{1, 1, 1}, kernel{1, 1}, stride{1, 1}, padding{0, 0}, patch{1, 1};
    std::int64_t filters = 1, groups = 1, outputs = 1;
    std::int64_t positions = 0;  ///< 0: given neither here nor by the workload's `sequence`
    std::int64_t width = 1, hidden = 1, vocabulary = 1, segments = 0, repeat = 1, extra = 0;
    std::int64_t extra_parameters = 0;
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

/// The keys of a layer depend on its kind.
struct LayerKind {
    std::string name;
    std::vector<std::string> needs;
    std::vector<std::string> takes;  ///< optional
};

/// Numbers of the kinds, in the order of layer_kinds().
enum {
    convolution_kind,
    dense_kind,
    attention_kind,
    feed_forward_kind,
    transformer_kind,
    moe_kind,
    embedding_kind,
    embedding_bag_kind,
    patch_embedding_kind,
    custom_kind,
    block_kind
};

const std::vector<LayerKind>& layer_kinds();

/// Returns the words for the kinds, without blocks if these are not allowed.
std::vector<std::string> layer_kind_names(bool block);

/// Returns "a dense layer", "an attention layer".
std::string layer_of(const LayerKind& kind);

/// Rejects keys that the kind needs and are not given, and those of other kinds.
void check_keys(Fields& fields, const LayerKind& kind);

// Return the layers of a transformer with these keys, and reject what is wrong.
Layer make_attention(Fields& fields, const LayerKeys& keys);
Layer make_feed_forward(Fields& fields, const LayerKeys& keys);
Layer make_experts(Fields& fields, const LayerKeys& keys);

/// Returns NAME1.attention, NAME1.feed-forward, NAME2.attention, …; or NAME1.block, NAME2.block, … if both halves have
/// the same input.
std::vector<Layer> make_transformer(Fields& fields, const LayerKeys& keys);

}  // namespace syncline::config

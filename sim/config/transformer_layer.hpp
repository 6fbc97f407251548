#pragma once

#include <vector>

#include "sim/config/layer_keys.hpp"

/// Makes the layers of transformers from their keys, and rejects what is wrong.
namespace syncline::config {

Layer make_attention(Fields& fields, const LayerKeys& keys);
Layer make_feed_forward(Fields& fields, const LayerKeys& keys);
Layer make_experts(Fields& fields, const LayerKeys& keys);

/// Returns NAME1.attention, NAME1.feed-forward, NAME2.attention, …; or NAME1.block, NAME2.block, … if both halves have
/// the same input.
std::vector<Layer> make_transformer(Fields& fields, const LayerKeys& keys);

}  // namespace syncline::config

#pragma once

#include <string>
#include <vector>

#include "sim/document/fields.hpp"

/// The kinds of layers in a workload, each with its keys.
namespace syncline::config {

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

}  // namespace syncline::config

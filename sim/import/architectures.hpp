#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "sim/import/transformer_file.hpp"

/// Readers of Hugging Face's config.json by `model_type`, and what they share.
namespace syncline::config {

inline constexpr std::int64_t most_layers_given = 10'000;

struct Architecture {
    std::string type;
    Node (*read)(ForeignKeys&);  ///< returns a workload
};

/// Decoders whose layers are Llama's: RMSNorm, a gate and rotated positions.
std::vector<Architecture> llama_like_architectures();
/// Other decoders: LayerNorm, and two matrices in the feed-forward half.
std::vector<Architecture> classic_architectures();
/// BERT, T5 and ViT.
std::vector<Architecture> encoder_architectures();

/// Returns a name for the model: that of the path from which it was saved, or the file's, or its type.
std::string model_name(ForeignKeys& keys, const std::string& type);

/// Returns whether one of these rates of dropout is above 0; `absent` if none is there.
bool drops(ForeignKeys& keys, std::initializer_list<const char*> names, bool absent);

/// Returns the tokens of a sample. The file has only their maximum, which may be that of an extension.
Given sequence_of(ForeignKeys& keys, Given longest);

/// Returns the stack of models whose matrices all have biases.
Stack classic_stack(const Mark& mark, const Given& width, const Given& heads, const std::optional<Given>& hidden,
                    std::int64_t layers);

}  // namespace syncline::config

#include "sim/config/layer_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace syncline::config {

namespace {

const std::vector<std::string> attention_keys{"positions", "kv_heads",   "head_size",       "window",      "context",
                                              "rotary",    "query_rank", "kv_rank",         "rotary_size", "bias",
                                              "norm",      "dropout",    "extra_parameters"};
const std::vector<std::string> feed_forward_keys{"positions", "gated",   "merged_gate",     "bias",
                                                 "norm",      "dropout", "extra_parameters"};

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
    for (const std::string& word : more)
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    return words;
}

const std::vector<LayerKind> all_kinds{
    {"convolution",
     {"input", "filters", "kernel"},
     {"stride", "padding", "groups", "bias", "batch_norm", "activation", "residual", "joined", "shared_input", "pool",
      "pool_window", "pool_stride"}},
    {"dense", {"inputs", "outputs"}, {"positions", "bias", "norm", "gathered", "tied"}},
    {"attention", {"width", "heads"}, attention_keys},
    {"feed-forward", {"width", "hidden"}, feed_forward_keys},
    {"transformer",
     {"width", "heads", "hidden"},
     joined(joined(attention_keys, feed_forward_keys), {"parallel", "repeat"})},
    {"moe",
     {"width", "hidden", "experts", "top_k"},
     {"positions", "shared_experts", "shared_hidden", "gated", "bias", "norm", "capacity", "fused_permutation",
      "extra_parameters"}},
    {"embedding",
     {"vocabulary", "width"},
     {"positions", "learned_positions", "segments", "norm", "dropout", "extra_parameters"}},
    {"embedding-bag", {"rows", "width"}, {"lookups"}},
    {"patch-embedding", {"input", "patch", "width"}, {"extra_tokens"}},
    {"custom", {"parameters", "macs"}, {"inputs", "activations"}},
    {"block", {"layers"}, {"repeat"}},
};

bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

const std::vector<LayerKind>& layer_kinds() {
    return all_kinds;
}

std::vector<std::string> layer_kind_names(bool block) {
    std::vector<std::string> names;
    for (const LayerKind& kind : all_kinds)
        if (block || kind.name != "block") names.push_back(kind.name);
    return names;
}

std::string layer_of(const LayerKind& kind) {
    const bool vowel = std::string_view("aeiou").find(kind.name.front()) != std::string_view::npos;
    return fmt::format("{} {} layer", vowel ? "an" : "a", kind.name);
}

void check_keys(Fields& fields, const LayerKind& kind) {
    const std::string hint =
        fmt::format("it needs {} and takes {}", fmt::join(kind.needs, ", "), fmt::join(kind.takes, ", "));
    for (const std::string& key : kind.needs)
        if (!fields.given(key)) fields.reject(key, fmt::format("{} needs '{}'", layer_of(kind), key), hint);
    std::vector<std::string> wrong;  // each once, even if several kinds have it
    for (const LayerKind& other : all_kinds)
        for (const auto* list : {&other.needs, &other.takes})
            for (const std::string& key : *list)
                if (fields.given(key) && !contains(kind.needs, key) && !contains(kind.takes, key) &&
                    !contains(wrong, key))
                    wrong.push_back(key);
    for (const std::string& key : wrong) fields.reject(key, fmt::format("{} has no '{}'", layer_of(kind), key), hint);
}

}  // namespace syncline::config

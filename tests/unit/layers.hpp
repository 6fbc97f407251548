#pragma once

#include <string>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "sim/workload/experts.hpp"
#include "sim/workload/model.hpp"
#include "sim/workload/transformer.hpp"

/// Layers and models for tests of kernels and compute models.
namespace syncline::test {

/// Reads a model. Throws ConfigError.
inline Model read_model(const config::Node& node) {
    Model model;
    std::vector<Diagnostic> errors;
    config::read(
        node, "workload", [&](config::Fields& fields) { describe(fields, model); }, errors);
    if (!errors.empty()) throw ConfigError(errors);
    return model;
}

/// Returns a shipped workload.
inline Model shipped_model(const std::string& name) {
    config::Library library;
    return read_model(library.load_argument(SYNCLINE_SOURCE_DIR "/workloads/" + name + ".yaml"));
}

inline const std::vector<std::string> shipped_cnns{"alexnet-caffe", "alexnet-nogroup", "alexnet-owt",     "alexnet-tf",
                                                   "vgg-16",        "resnet-50",       "resnet-50-v1",    "resnet-101",
                                                   "resnet-152",    "inception-v3",    "inception-v3-aux"};

inline const std::vector<std::string> shipped_transformers{"bert-large", "gpt-2", "gpt-2-xl", "gpt-3-175b"};

/// Returns a model with one layer of each kind, with sizes that have few divisors.
inline Model every_kind() {
    Model model;
    model.name = "every-kind";
    Convolution conv{.channels = 6, .height = 31, .width = 17, .filters = 35, .kernel = {5, 3}, .stride = {2, 1}};
    model.layers.push_back(convolution("convolution", conv));
    conv = {
        .channels = 60, .height = 14, .width = 14, .filters = 60, .kernel = {3, 3}, .padding = {1, 1}, .groups = 12};
    model.layers.push_back(convolution("grouped", conv));
    conv.groups = 60;
    model.layers.push_back(convolution("depthwise", conv));
    model.layers.push_back(dense("dense", 2048, 1001, true));
    model.layers.push_back(
        dense("by-token", Dense{.inputs = 96, .outputs = 250, .positions = 33, .tied = true, .norm = Norm::layer}));
    model.layers.push_back(embedding("embedding", Embedding{.vocabulary = 5000, .positions = 33, .width = 96}));
    model.layers.push_back(attention("attention", Attention{.positions = 33, .width = 96, .heads = 12}));
    model.layers.push_back(feed_forward("feed-forward", FeedForward{.positions = 33, .width = 96, .hidden = 385}));
    const Attention shared{.positions = 33, .width = 96, .heads = 12, .kv_heads = 4, .window = 20, .rotary = true};
    const FeedForward gated{.positions = 33, .width = 96, .hidden = 77, .gated = true, .norm = Norm::none};
    model.layers.push_back(parallel_block("block", {shared, gated}));
    model.layers.push_back(experts(
        "experts",
        {.positions = 33, .width = 96, .hidden = 77, .experts = 5, .top_k = 2, .shared = 1, .shared_hidden = 7}));
    model.layers.push_back(embedding_bag("bag", {.tables = 3, .rows = 1001, .lookups = 7, .width = 9}));
    model.layers.push_back(patch_embedding(
        "patches", {.channels = 3, .height = 14, .width = 21, .patch = {7, 3}, .outputs = 65, .extra = 1}));
    Layer custom;
    custom.name = "custom";
    custom.parameters = 1234, custom.macs = 987654, custom.inputs = 432, custom.activations = 321;
    model.layers.push_back(custom);
    return model;
}

}  // namespace syncline::test

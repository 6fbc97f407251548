#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/document.hpp"
#include "sim/config/files.hpp"
#include "sim/config/reader.hpp"
#include "sim/workload/model.hpp"

/// Layers and models for tests of kernels and compute models.
namespace syncline::test {

/// A shipped workload.
inline Model shipped_model(const std::string& name) {
    config::Library library;
    Model model;
    std::vector<Diagnostic> errors;
    config::read(
        library.load_argument(SYNCLINE_SOURCE_DIR "/workloads/" + name + ".yaml"), "workload",
        [&](config::Fields& fields) { describe(fields, model); }, errors);
    if (!errors.empty()) throw ConfigError(errors);
    return model;
}

inline const std::vector<std::string> shipped_cnns{"alexnet-caffe", "alexnet-nogroup", "alexnet-owt",
                                                   "alexnet-tf",    "vgg-16",          "resnet-50",
                                                   "resnet-50-v1",  "inception-v3",    "inception-v3-aux"};

inline Layer dense_at(const std::string& name, const Dense& shape) {
    Layer layer = dense(name, shape.inputs, shape.outputs, shape.bias);
    layer.macs *= shape.positions;
    layer.inputs *= shape.positions;
    layer.activations *= shape.positions;
    layer.shape = shape;
    return layer;
}

/// One that is its shape alone: nothing is read from its counts.
inline Layer shaped(const std::string& name, const LayerShape& shape) {
    Layer layer;
    layer.name = name;
    layer.shape = shape;
    return layer;
}

/// One of each kind, with sizes that divide by little.
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
    model.layers.push_back(dense_at("by-token", {.inputs = 96, .outputs = 250, .positions = 33, .tied = true}));
    model.layers.push_back(shaped("embedding", Embedding{.vocabulary = 5000, .positions = 33, .width = 96}));
    model.layers.push_back(shaped("attention", Attention{.positions = 33, .width = 96, .heads = 12}));
    model.layers.push_back(shaped("feed-forward", FeedForward{.positions = 33, .width = 96, .hidden = 385}));
    Layer custom;
    custom.name = "custom";
    custom.parameters = 1234, custom.macs = 987654, custom.inputs = 432, custom.activations = 321;
    model.layers.push_back(custom);
    return model;
}

}  // namespace syncline::test

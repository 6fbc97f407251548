#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "sim/workload/model.hpp"
#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

using namespace syncline;
using test::read_model, test::shipped_model;

namespace {

/// Returns a workload of one layer, as written in a file.
Model written(const std::string& layers) {
    config::Library library;
    return read_model(library.parse("test.yaml", "name: test\ninput: [3, 8, 8]\nlayers:\n" + layers, "."));
}

std::string refusal(const std::string& layers) {
    try {
        written(layers);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

struct Published {
    std::string name;
    std::size_t layers;
    std::int64_t parameters;
    std::int64_t macs;
    std::int64_t activations;
};

}  // namespace

TEST_CASE("shipped workloads have the published parameters and multiply-accumulates", "[memory]") {
    // Parameters:
    // - torchvision, meta["num_params"] of AlexNet_Weights 61100840, VGG16_Weights 138357544,
    //   ResNet50_Weights 25557032, ResNet101_Weights 44549160, ResNet152_Weights 60192808 and
    //   Inception_V3_Weights 27161264 (with the auxiliary classifier), MobileNet_V2_Weights 3504872
    // - keras-applications, trainable parameters: MobileNet 4231976, NASNetLarge 88753150
    // - HewlettPackard/dlcookbook-dlbs, docs/models/models.md (2017), AlexNet 60965224 (two groups)
    // - osmr/imgclsmob, model tables, AlexNet 62378344; its inceptionv3.py asserts 23834568
    // Multiply-accumulates, which the same tables call FLOPS:
    // - torchvision, meta["_ops"] in units of 1e9: 0.714, 15.47, 4.089, 7.801, 11.514, 5.713 for Inception-v3
    //   without the classifier, 0.301 for MobileNet v2
    // - the papers: MobileNet v1 569 M, NASNet-A (6 @ 4032) 23.8 G
    // - albanie/convnet-burden, caffenet 724 M
    // - K. He et al., "Deep residual learning for image recognition", 2015, table 1: ResNet-50 3.8e9
    // The exact values, all activations, and every count not named here are computed from the papers' shapes.
    const Published all[] = {
        {"alexnet-caffe", 8, 60'965'224, 724'406'816, 659'272},
        {"alexnet-nogroup", 8, 62'378'344, 1'135'256'096, 659'272},
        {"alexnet-owt", 8, 61'100'840, 714'188'480, 494'184},
        {"alexnet-tf", 8, 61'842'345, 838'792'896, 515'817},
        {"vgg-16", 16, 138'357'544, 15'470'264'320, 13'556'712},
        {"resnet-50", 54, 25'557'032, 4'089'184'256, 11'114'984},
        {"resnet-50-v1", 54, 25'557'032, 3'857'973'248, 10'588'136},
        {"resnet-101", 105, 44'549'160, 7'801'405'440, 16'232'936},
        {"resnet-152", 156, 60'192'808, 11'513'626'624, 22'555'112},
        {"inception-v3", 95, 23'834'568, 5'713'216'096, 8'968'488},
        {"inception-v3-aux", 98, 27'161'264, 5'718'899'296, 8'973'456},
        {"mobilenet-v1", 28, 4'231'976, 568'740'352, 5'043'688},
        {"mobilenet-v2", 53, 3'504'872, 300'774'272, 6'679'112},
        {"nasnet-large", 489, 88'753'150, 23'783'414'658, 90'560'452},
    };
    for (const Published& published : all) {
        INFO(published.name);
        const Model model = shipped_model(published.name);
        CHECK(model.name == published.name);
        CHECK(model.layers.size() == published.layers);
        CHECK(model.parameters() == published.parameters);
        CHECK(model.macs() == published.macs);
        CHECK(model.gradient_bytes() == 4 * static_cast<std::uint64_t>(published.parameters));
        std::int64_t activations = 0;
        for (const Layer& layer : model.layers) activations += layer.activations;
        CHECK(activations == published.activations);
    }
}

TEST_CASE("shipped workloads read one image", "[memory]") {
    CHECK(shipped_model("resnet-50").sample_elements == 3 * 224 * 224);
    CHECK(shipped_model("inception-v3").sample_elements == 3 * 299 * 299);
}

TEST_CASE("a convolution has the expected counts", "[memory]") {
    Convolution conv;
    conv.channels = 3;
    conv.height = 227;
    conv.width = 227;
    conv.filters = 96;
    conv.kernel[0] = conv.kernel[1] = 11;
    conv.stride[0] = conv.stride[1] = 4;
    conv.bias = true;

    SECTION("AlexNet's first") {
        const Layer layer = convolution("conv1", conv);
        CHECK(output_size(conv, 0) == 55);
        CHECK(layer.parameters == 96 * 3 * 121 + 96);
        CHECK(layer.macs == 96 * 3 * 121 * 55 * 55);
        CHECK(layer.inputs == 3 * 227 * 227);
        CHECK(layer.activations == 96 * 55 * 55);
    }
    SECTION("padding of half an odd kernel keeps the size at stride 1") {
        conv.stride[0] = conv.stride[1] = 1;
        for (const std::int64_t kernel : {1, 3, 5, 7, 11}) {
            conv.kernel[0] = conv.kernel[1] = kernel;
            conv.padding[0] = conv.padding[1] = kernel / 2;
            CHECK(output_size(conv, 0) == 227);
        }
    }
    SECTION("height and width are told apart") {
        conv.width = 100;
        conv.kernel[1] = 7;
        conv.stride[1] = 1;
        conv.padding[1] = 3;
        CHECK(output_size(conv, 0) == 55);
        CHECK(output_size(conv, 1) == 100);
        CHECK(convolution("conv", conv).parameters == 96 * 3 * 11 * 7 + 96);
    }
    SECTION("groups divide weights and work, not the output") {
        conv.channels = 96;
        const Layer whole = convolution("conv", conv);
        conv.groups = 2;
        const Layer split = convolution("conv", conv);
        CHECK(2 * split.macs == whole.macs);
        CHECK(2 * (split.parameters - 96) == whole.parameters - 96);
        CHECK(split.activations == whole.activations);
        CHECK(split.inputs == whole.inputs);
    }
    SECTION("normalisation adds two parameters per filter and no work") {
        const Layer biased = convolution("conv", conv);
        conv.bias = false;
        conv.batch_norm = true;
        const Layer normalised = convolution("conv", conv);
        CHECK(normalised.parameters - biased.parameters == 96);
        CHECK(normalised.macs == biased.macs);
    }
    SECTION("a kernel of the input's size gives one output, a larger one none") {
        conv.kernel[0] = 227;
        CHECK(output_size(conv, 0) == 1);
        conv.kernel[0] = 228;
        CHECK(output_size(conv, 0) == 0);
    }
}

TEST_CASE("a dense layer has the expected counts", "[memory]") {
    const Layer layer = dense("fc", 2048, 1000, true);
    CHECK(layer.parameters == 2'049'000);
    CHECK(layer.macs == 2'048'000);
    CHECK(layer.inputs == 2048);
    CHECK(layer.activations == 1000);
    CHECK(dense("fc", 2048, 1000, false).parameters == 2'048'000);
}

TEST_CASE("a custom layer has the given counts", "[memory]") {
    const Model model =
        written("  - {name: attention, kind: custom, parameters: 12, macs: 34, inputs: 5, activations: 6}\n");
    REQUIRE(model.layers.size() == 1);
    CHECK(model.layers[0].name == "attention");
    CHECK(model.layers[0].parameters == 12);
    CHECK(model.layers[0].macs == 34);
    CHECK(model.layers[0].inputs == 5);
    CHECK(model.layers[0].activations == 6);
    CHECK(model.sample_elements == 3 * 8 * 8);
}

TEST_CASE("gradients have the size of an element", "[memory]") {
    const Model half = written("  - {name: a, kind: custom, parameters: 3, macs: 1}\nelement_size: 2 B\n");
    CHECK(half.gradient_bytes() == 6);
    CHECK(gradient_bytes(half, half.layers[0]) == 6);
}

TEST_CASE("invalid layers are refused", "[memory]") {
    const std::string conv = "  - {name: c, kind: convolution, input: [3, 8, 8], filters: 4, kernel: ";
    CHECK(contains(refusal(conv + "9}\n"), "does not fit"));
    CHECK(contains(refusal(conv + "3, groups: 2}\n"), "3 channels cannot be divided into 2 groups"));
    CHECK(contains(refusal(conv + "3, groups: 3}\n"), "4 filters cannot be divided into 3 groups"));
    CHECK(contains(refusal(conv + "3, stride: 0}\n"), "stride"));
    CHECK(contains(refusal(conv + "3, outputs: 5}\n"), "a convolution layer has no 'outputs'"));
    CHECK(contains(refusal("  - {name: c, kind: convolution, input: [3, 8, 8], filters: 4}\n"),
                   "a convolution layer needs 'kernel'"));
    CHECK(contains(refusal("  - {name: d, kind: dense, inputs: 1, outputs: 1}\n  - {name: d, kind: dense, inputs: 1, "
                           "outputs: 1}\n"),
                   "duplicate layer name 'd'"));
    CHECK(contains(refusal("  - {name: d, kind: pool}\n"), "pool"));
    CHECK(contains(refusal("  []\n"), "layers"));
}

TEST_CASE("absurd sizes are refused and do not overflow", "[memory]") {
    CHECK(refusal("  - {name: c, kind: convolution, input: [9223372036854775807, 8, 8], filters: 4, kernel: 3}\n") !=
          "");
    CHECK(refusal("  - {name: c, kind: convolution, input: [16777216, 16777216, 16777216], filters: 16777216, kernel: "
                  "1}\n") != "");
    CHECK(refusal("  - {name: c, kind: custom, parameters: 9223372036854775807, macs: 1}\n") != "");
    CHECK(contains(refusal("  - {name: a, kind: custom, parameters: 100000000000000000, macs: 1}\n"
                           "  - {name: b, kind: custom, parameters: 100000000000000000, macs: 1}\n"),
                   "too many"));
}

TEST_CASE("a file whose layers do not add up to its published totals is refused", "[memory]") {
    const std::string layers = "  - {name: a, kind: dense, inputs: 2, outputs: 3}\n";
    CHECK(refusal(layers + "published: {parameters: 6, macs: 6, source: here}\n") == "");
    CHECK(contains(refusal(layers + "published: {parameters: 7, source: here}\n"),
                   "the layers add up to 6 parameters, not 7"));
    CHECK(contains(refusal(layers + "published: {macs: 12, source: here}\n"), "the layers add up to 6 macs, not 12"));
    CHECK(refusal(layers + "published: {parameters: 6}\n") != "");
}

#include "sim/workload/kernels.hpp"

#include <string>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Compares kernels with the formulas of kernels.hpp, worked out by hand.

using namespace syncline;
using namespace syncline::test;

namespace {

double flops(const std::vector<Kernel>& all) {
    double sum = 0;
    for (const Kernel& kernel : all) sum += static_cast<double>(kernel.count) * kernel.flops;
    return sum;
}

void check(const Kernel& kernel, const std::string& name, double flops, double elements, std::int64_t count = 1,
           double narrowest = 0) {
    CAPTURE(kernel.name, name);
    CHECK(kernel.name == name);
    CHECK(kernel.flops == Approx(flops).epsilon(1e-12));
    CHECK(kernel.elements == Approx(elements).epsilon(1e-12));
    CHECK(kernel.count == count);
    CHECK((kernel.product ? kernel.product->narrowest() : 0) == Approx(narrowest).epsilon(1e-12));
}

/// 4 channels of 6×5, 6 filters of 3×2, padding 1 and 0: outputs of 6×4, patches of 24.
Convolution small_convolution() {
    return {.channels = 4, .height = 6, .width = 5, .filters = 6, .kernel = {3, 2}, .padding = {1, 0}};
}

}  // namespace

TEST_CASE("a convolution with im2col has the expected kernels") {
    const Layer layer = convolution("c", small_convolution());
    const Share share{.samples = 5};  // 5·6·4 = 120 columns
    const auto forward = kernels(layer, Pass::forward, share, Lowering::im2col);
    REQUIRE(forward.size() == 2);
    check(forward[0], "im2col", 0, 24 * 120);
    check(forward[1], "GEMM", 2.0 * 6 * 120 * 24, 6 * 120 + 6 * 24 + 24 * 120, 1, 6);
    const auto weights = kernels(layer, Pass::weight_gradient, share, Lowering::im2col);
    REQUIRE(weights.size() == 1);
    check(weights[0], "GEMM", 2.0 * 6 * 24 * 120, 6 * 24 + 6 * 120 + 120 * 24, 1, 6);
    const auto inputs = kernels(layer, Pass::input_gradient, share, Lowering::im2col);
    REQUIRE(inputs.size() == 2);
    check(inputs[0], "GEMM", 2.0 * 24 * 120 * 6, 24 * 120 + 24 * 6 + 6 * 120, 1, 6);
    check(inputs[1], "col2im", 24 * 120, 24 * 120);
}

TEST_CASE("each group of a convolution is a matrix product, and a rank has the groups of its filters") {
    Convolution conv = small_convolution();
    conv.groups = 2;  // patches of 12, 3 filters each
    const Layer layer = convolution("c", conv);
    const auto forward = [&](double part) {
        return kernels(layer, Pass::forward, {.samples = 5, .part = part}, Lowering::im2col);
    };
    check(forward(1)[0], "im2col", 0, 24 * 120);
    check(forward(1)[1], "GEMM", 2.0 * 3 * 120 * 12, 3 * 120 + 3 * 12 + 12 * 120, 2, 3);
    // Half of the filters belong to one group.
    check(forward(0.5)[0], "im2col", 0, 12 * 120);
    check(forward(0.5)[1], "GEMM", 2.0 * 3 * 120 * 12, 3 * 120 + 3 * 12 + 12 * 120, 1, 3);
    // One filter of six: all of its group's patches.
    check(forward(1.0 / 6)[0], "im2col", 0, 12 * 120);
    check(forward(1.0 / 6)[1], "GEMM", 2.0 * 1 * 120 * 12, 120 + 12 + 12 * 120, 1, 1);
    // Four filters of six reach into both groups.
    check(forward(4.0 / 6)[0], "im2col", 0, 24 * 120);
    check(forward(4.0 / 6)[1], "GEMM", 2.0 * 2 * 120 * 12, 2 * 120 + 2 * 12 + 12 * 120, 2, 2);
    // 9/14 of 42 groups are 27, and 27.000000000000004 in floating point.
    conv = {.channels = 42, .height = 1, .width = 1, .filters = 42, .groups = 42};
    REQUIRE(42 * (9.0 / 14) > 27);
    CHECK(kernels(convolution("d", conv), Pass::forward, {.part = 9.0 / 14}, Lowering::im2col)[1].count == 27);
}

TEST_CASE("a part of the image has fewer columns") {
    const Layer layer = convolution("c", small_convolution());
    const auto half = kernels(layer, Pass::forward, {.samples = 4, .area = 0.25}, Lowering::im2col);
    check(half[0], "im2col", 0, 24 * 24);
    check(half[1], "GEMM", 2.0 * 6 * 24 * 24, 6 * 24 + 6 * 24 + 24 * 24, 1, 6);
}

TEST_CASE("implicit: each pass of a convolution is one kernel with the layer's counts") {
    Convolution conv = small_convolution();
    conv.bias = true;
    const Layer layer = convolution("c", conv);
    for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient}) {
        const auto whole = kernels(layer, pass, {.samples = 5}, Lowering::implicit);
        REQUIRE(whole.size() == 1);
        check(whole[0], "c", 2.0 * 6 * 24 * 24 * 5, (4 * 30 + 6 * 24) * 5 + 6 * 24 + 6, 1, 6);
        const auto share = kernels(layer, pass, {.samples = 5, .part = 0.5, .area = 0.5}, Lowering::implicit);
        check(share[0], "c", 2.0 * 6 * 24 * 24 * 5 / 4, (60 + 6 * 24 / 4) * 5 + (6 * 24 + 6) / 2, 1, 3);
    }
}

TEST_CASE("a rank of a dense layer computes a part of the outputs") {
    const Layer layer = dense("fc", 10, 12, true);
    const Share share{.samples = 7, .part = 0.25};  // 3 outputs
    for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient}) {
        const auto lowered = kernels(layer, pass, share, Lowering::im2col);
        REQUIRE(lowered.size() == 1);
        check(lowered[0], "GEMM", 2.0 * 7 * 3 * 10, 7 * 3 + 7 * 10 + 3 * 10, 1, 3);
        const auto implicit = kernels(layer, pass, share, Lowering::implicit);
        REQUIRE(implicit.size() == 1);
        check(implicit[0], "fc", 2.0 * 7 * 3 * 10, 7 * 3 + 7 * 10 + 3 * 10 + 3, 1, 3);
    }
}

TEST_CASE("a dense layer of tokens is one matrix product of all of them, and reads tied weights like others") {
    const Dense shape{.inputs = 10, .outputs = 12, .positions = 9, .tied = true};
    const Layer layer = dense("head", shape);
    const double elements = 18 * 12 + 18 * 10 + 12 * 10;
    check(kernels(layer, Pass::forward, {.samples = 2}, Lowering::im2col)[0], "GEMM", 2.0 * 18 * 12 * 10, elements, 1,
          10);
    check(kernels(layer, Pass::forward, {.samples = 2}, Lowering::implicit)[0], "head", 2.0 * 18 * 12 * 10, elements, 1,
          10);
}

TEST_CASE("attention with two of four heads of width 3, 5 positions and 2 samples has the expected kernels") {
    const Layer layer = attention("a", Attention{.positions = 5, .width = 12, .heads = 4});
    const Share share{.samples = 2, .part = 0.5};
    // 2·5 = 10 rows of 12; this rank's heads have 6 of them, and 2·2 matrices of scores.
    for (const Lowering lowering : {Lowering::implicit, Lowering::im2col}) {
        const auto forward = kernels(layer, Pass::forward, share, lowering);
        REQUIRE(forward.size() == 7);
        check(forward[0], "normalisation", 0, 2 * 120 + 2 * 12);
        check(forward[1], "queries, keys and values", 2.0 * 10 * 18 * 12, 10 * 18 + 10 * 12 + 18 * 12, 1, 10);
        check(forward[2], "scores", 4 * 2.0 * 5 * 5 * 3, 4 * (25 + 15 + 15), 1, 3);
        check(forward[3], "softmax", 0, 2 * 4 * 25);
        check(forward[4], "weighted sum", 4 * 2.0 * 5 * 3 * 5, 4 * (15 + 25 + 15), 1, 3);
        check(forward[5], "projection", 2.0 * 10 * 12 * 6, 10 * 12 + 10 * 6 + 12 * 6, 1, 6);
        check(forward[6], "residual addition", 0, 3 * 120);
        const auto weights = kernels(layer, Pass::weight_gradient, share, lowering);
        REQUIRE(weights.size() == 2);
        check(weights[0], "projection", 2.0 * 6 * 12 * 10, 6 * 12 + 6 * 10 + 12 * 10, 1, 6);
        check(weights[1], "queries, keys and values", 2.0 * 12 * 18 * 10, 12 * 18 + 12 * 10 + 18 * 10, 1, 10);
        const auto inputs = kernels(layer, Pass::input_gradient, share, lowering);
        REQUIRE(inputs.size() == 9);
        check(inputs[3], "softmax", 0, 3 * 4 * 25);
        check(inputs[6], "queries, keys and values", 2.0 * 10 * 12 * 18, 10 * 12 + 10 * 18 + 12 * 18, 1, 10);
    }
}

TEST_CASE("transformers' matrix products have the operations of the literature, and twice as many backward") {
    // Multiply-accumulates of a layer and sequence: 4sh² + 2s²h of attention, 2shf of the feed-forward half; with f =
    // 4h these are s·12h²·(1 + s/6h), as in D. Narayanan et al., SC 2021, appendix (there FLOP, for both passes).
    for (const auto& [s, h, heads, f] :
         {std::tuple{33, 96, 12, 384}, std::tuple{1, 8, 1, 32}, std::tuple{128, 60, 5, 7}}) {
        for (const double part : {1.0, 0.2, 1.0 / 3}) {
            const double sequence = s, width = h, hidden = f;
            const std::vector<std::pair<Layer, double>> layers{
                {attention("a", Attention{.positions = s, .width = h, .heads = heads}),
                 4 * sequence * width * width + 2 * sequence * sequence * width},
                {feed_forward("f", FeedForward{.positions = s, .width = h, .hidden = f}),
                 2 * sequence * width * hidden}};
            for (const auto& [layer, macs] : layers) {
                const Share share{.samples = 3, .part = part};
                const double forward = flops(kernels(layer, Pass::forward, share, Lowering::implicit));
                const double backward = flops(kernels(layer, Pass::weight_gradient, share, Lowering::implicit)) +
                                        flops(kernels(layer, Pass::input_gradient, share, Lowering::implicit));
                CAPTURE(layer.name, s, h, part);
                CHECK(forward == Approx(2 * macs * 3 * part).epsilon(1e-12));
                CHECK(backward == Approx(2 * forward).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE("an embedding moves rows, and its gradient is a whole table") {
    const Layer layer = embedding("e", Embedding{.vocabulary = 100, .positions = 5, .width = 8});
    const auto forward = kernels(layer, Pass::forward, {.samples = 3, .part = 0.25}, Lowering::implicit);
    REQUIRE(forward.size() == 1);
    check(forward[0], "rows", 0, 1.25 * 120 + 120);
    const auto weights = kernels(layer, Pass::weight_gradient, {.samples = 3, .part = 0.25}, Lowering::implicit);
    REQUIRE(weights.size() == 2);
    check(weights[0], "clearing", 0, 25 * 8);
    check(weights[1], "rows", 0, 3 * 30);
    CHECK(kernels(layer, Pass::input_gradient, {}, Lowering::implicit).empty());
}

TEST_CASE("a normalisation before a dense layer, or after an embedding, is done whole, backward too") {
    // 2·9 = 18 vectors of 10.
    const Layer head = dense("head", Dense{.inputs = 10, .outputs = 12, .positions = 9, .norm = true});
    for (const Lowering lowering : {Lowering::implicit, Lowering::im2col}) {
        const auto forward = kernels(head, Pass::forward, {.samples = 2, .part = 0.5}, lowering);
        REQUIRE(forward.size() == 2);
        check(forward[0], "normalisation", 0, 2 * 180 + 2 * 10);
        CHECK(forward[1].flops == Approx(2.0 * 18 * 6 * 10));
        const auto inputs = kernels(head, Pass::input_gradient, {.samples = 2, .part = 0.5}, lowering);
        REQUIRE(inputs.size() == 2);
        check(inputs[1], "normalisation", 0, 3 * 180 + 4 * 10);
        CHECK(kernels(head, Pass::weight_gradient, {.samples = 2, .part = 0.5}, lowering).size() == 1);
    }
    const Embedding shape{
        .vocabulary = 100, .positions = 9, .width = 10, .learned_positions = false, .segments = 2, .norm = true};
    const Layer table = embedding("e", shape);
    const auto rows = kernels(table, Pass::forward, {.samples = 2, .part = 0.5}, Lowering::implicit);
    REQUIRE(rows.size() == 2);
    check(rows[0], "rows", 0, 2.5 * 180);
    check(rows[1], "normalisation", 0, 2 * 180 + 2 * 10);
    const auto weights = kernels(table, Pass::weight_gradient, {.samples = 2, .part = 0.5}, Lowering::implicit);
    REQUIRE(weights.size() == 3);
    check(weights[0], "normalisation", 0, 3 * 180 + 4 * 10);
}

TEST_CASE("shipped transformers' kernels have the operations of their layers") {
    for (const std::string& name : shipped_transformers) {
        for (const Layer& layer : shipped_model(name).layers) {
            const Share share{.samples = 4, .part = 0.125};
            CAPTURE(name, layer.name);
            CHECK(flops(kernels(layer, Pass::forward, share, Lowering::implicit)) ==
                  Approx(2 * static_cast<double>(layer.macs) * 4 / 8).epsilon(1e-12));
        }
    }
}

TEST_CASE("matrix products of convolutions and dense layers have the layer's operations, however they are divided") {
    for (const std::string& name : shipped_cnns) {
        const Model model = shipped_model(name);
        for (const Layer& layer : model.layers) {
            for (const Share& share : {Share{.samples = 64}, Share{.samples = 1, .part = 1.0 / 3},
                                       Share{.samples = 0.5, .part = 0.125, .area = 0.25}}) {
                const double expected = 2 * static_cast<double>(layer.macs) * share.samples * share.part * share.area;
                CAPTURE(name, layer.name);
                for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient}) {
                    double products = 0;
                    for (const Kernel& kernel : kernels(layer, pass, share, Lowering::im2col))
                        if (kernel.name == "GEMM") products += static_cast<double>(kernel.count) * kernel.flops;
                    CHECK(products == Approx(expected).epsilon(1e-12));
                }
            }
        }
    }
}

TEST_CASE("the first layer needs no gradient of its inputs, except for its own weights' gradients") {
    Model model = every_kind();
    for (std::size_t i = 1; i < model.layers.size(); ++i)
        CHECK(has_input_gradient(model, i) == (model.layers[i].name != "embedding"));
    for (const Layer& layer : every_kind().layers) {
        model.layers = {layer};
        CHECK(has_input_gradient(model, 0) == (layer.name == "attention" || layer.name == "feed-forward"));
    }
}

#include "sim/workload/kernels.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <variant>
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
           double narrowest = 0, double bytes = 0) {
    CAPTURE(kernel.name, name);
    CHECK(kernel.name == name);
    CHECK(kernel.flops == Approx(flops).epsilon(1e-12));
    CHECK(kernel.elements == Approx(elements).epsilon(1e-12));
    CHECK(kernel.count == count);
    CHECK(kernel.bytes == Approx(bytes).epsilon(1e-12));
    CHECK((kernel.product ? kernel.product->narrowest() : 0) == Approx(narrowest).epsilon(1e-12));
}

/// Returns the multiply-accumulates of the scores that a causal mask hides, token by token.
double masked_macs(const Attention& shape) {
    if (!shape.causal) return 0;
    double hidden = 0;
    for (std::int64_t token = 1; token <= shape.positions; ++token)
        hidden += static_cast<double>(shape.seen() - std::min(token, shape.seen()));
    return hidden * static_cast<double>(shape.heads) * static_cast<double>(2 * shape.size() + shape.rotary_size);
}

/// 4 channels of 6×5, 6 filters of 3×2, padding 1 and 0: outputs of 6×4, patches of 24.
Convolution small_convolution() {
    return {.channels = 4, .height = 6, .width = 5, .filters = 6, .kernel = {3, 2}, .padding = {1, 0}};
}

}  // namespace

TEST_CASE("a convolution with im2col has the expected kernels", "[memory]") {
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

TEST_CASE("each group of a convolution is a matrix product, and a rank has the groups of its filters", "[memory]") {
    Convolution conv = small_convolution();
    conv.groups = 2;  // patches of 12, 3 filters each
    const Layer layer = convolution("c", conv);
    const auto forward = [&](double part) {
        return kernels(layer, Pass::forward, {.samples = 5, .fraction = part}, Lowering::im2col);
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
    CHECK(kernels(convolution("d", conv), Pass::forward, {.fraction = 9.0 / 14}, Lowering::im2col)[1].count == 27);
}

TEST_CASE("a part of the image has fewer columns", "[memory]") {
    const Layer layer = convolution("c", small_convolution());
    const auto half = kernels(layer, Pass::forward, {.samples = 4, .area = 0.25}, Lowering::im2col);
    check(half[0], "im2col", 0, 24 * 24);
    check(half[1], "GEMM", 2.0 * 6 * 24 * 24, 6 * 24 + 6 * 24 + 24 * 24, 1, 6);
}

TEST_CASE("implicit: each pass of a convolution is one kernel with the layer's counts", "[memory]") {
    Convolution conv = small_convolution();
    conv.bias = true;
    const Layer layer = convolution("c", conv);
    for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient}) {
        const auto whole = kernels(layer, pass, {.samples = 5}, Lowering::implicit);
        REQUIRE(whole.size() == 1);
        check(whole[0], "c", 2.0 * 6 * 24 * 24 * 5, (4 * 30 + 6 * 24) * 5 + 6 * 24 + 6, 1, 6);
        const auto share = kernels(layer, pass, {.samples = 5, .fraction = 0.5, .area = 0.5}, Lowering::implicit);
        check(share[0], "c", 2.0 * 6 * 24 * 24 * 5 / 4, (60 + 6 * 24 / 4) * 5 + (6 * 24 + 6) / 2, 1, 3);
    }
}

TEST_CASE("a rank of a dense layer computes a part of the outputs", "[memory]") {
    const Layer layer = dense("fc", 10, 12, true);
    const Share share{.samples = 7, .fraction = 0.25};  // 3 outputs
    for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient}) {
        const auto lowered = kernels(layer, pass, share, Lowering::im2col);
        REQUIRE(lowered.size() == 1);
        check(lowered[0], "GEMM", 2.0 * 7 * 3 * 10, 7 * 3 + 7 * 10 + 3 * 10, 1, 3);
        const auto implicit = kernels(layer, pass, share, Lowering::implicit);
        REQUIRE(implicit.size() == 1);
        check(implicit[0], "fc", 2.0 * 7 * 3 * 10, 7 * 3 + 7 * 10 + 3 * 10 + 3, 1, 3);
    }
}

TEST_CASE("a dense layer of tokens is one matrix product of all of them, and reads tied weights like others",
          "[memory]") {
    const Dense shape{.inputs = 10, .outputs = 12, .positions = 9, .tied = true};
    const Layer layer = dense("head", shape);
    const double elements = 18 * 12 + 18 * 10 + 12 * 10;
    check(kernels(layer, Pass::forward, {.samples = 2}, Lowering::im2col)[0], "GEMM", 2.0 * 18 * 12 * 10, elements, 1,
          10);
    check(kernels(layer, Pass::forward, {.samples = 2}, Lowering::implicit)[0], "head", 2.0 * 18 * 12 * 10, elements, 1,
          10);
}

TEST_CASE("stored attention with two of four heads of width 3, 5 positions and 2 samples has the expected kernels",
          "[memory]") {
    const Layer layer = attention("a", {.positions = 5, .width = 12, .heads = 4, .scores = Scores::stored});
    const Share share{.samples = 2, .fraction = 0.5};
    // 2·5 = 10 rows of 12; this rank's heads have 6 of them, and 2·2 matrices of scores.
    for (const Lowering lowering : {Lowering::implicit, Lowering::im2col}) {
        const auto forward = kernels(layer, Pass::forward, share, lowering);
        REQUIRE(forward.size() == 8);
        check(forward[0], "normalisation", 0, 2 * 120 + 2 * 12);
        check(forward[1], "queries, keys and values", 2.0 * 10 * 18 * 12, 10 * 18 + 10 * 12 + 18 * 12, 1, 10);
        check(forward[2], "scores", 4 * 2.0 * 5 * 5 * 3, 4 * (25 + 15 + 15), 1, 3);
        check(forward[3], "softmax", 0, 2 * 4 * 25);
        check(forward[4], "dropout", 0, 2 * 4 * 25, 1, 0, 4 * 25);
        check(forward[5], "weighted sum", 4 * 2.0 * 5 * 3 * 5, 4 * (15 + 25 + 15), 1, 3);
        check(forward[6], "projection", 2.0 * 10 * 12 * 6, 10 * 12 + 10 * 6 + 12 * 6, 1, 6);
        check(forward[7], "residual addition", 0, 3 * 120, 1, 0, 120);
        const auto weights = kernels(layer, Pass::weight_gradient, share, lowering);
        REQUIRE(weights.size() == 4);
        check(weights[0], "bias gradient", 0, 10 * 12);
        check(weights[1], "projection", 2.0 * 6 * 12 * 10, 6 * 12 + 6 * 10 + 12 * 10, 1, 6);
        check(weights[2], "bias gradient", 0, 10 * 18);
        check(weights[3], "queries, keys and values", 2.0 * 12 * 18 * 10, 12 * 18 + 12 * 10 + 18 * 10, 1, 10);
        const auto inputs = kernels(layer, Pass::input_gradient, share, lowering);
        REQUIRE(inputs.size() == 11);
        check(inputs[0], "dropout", 0, 2 * 120, 1, 0, 120);
        check(inputs[4], "dropout", 0, 2 * 4 * 25, 1, 0, 4 * 25);
        check(inputs[5], "softmax", 0, 3 * 4 * 25);
        check(inputs[8], "queries, keys and values", 2.0 * 10 * 12 * 18, 10 * 12 + 10 * 18 + 12 * 18, 1, 10);
        check(inputs[9], "normalisation", 0, 5 * 120 + 4 * 12);
    }
}

TEST_CASE("transformers' matrix products have the operations of the literature, and twice as many backward",
          "[memory]") {
    // Multiply-accumulates of a layer and sequence: 4sh² + 2s²h of attention, 2shf of the feed-forward half; with f =
    // 4h these are s·12h²·(1 + s/6h), as in D. Narayanan et al., SC 2021, appendix (there FLOP, for both passes).
    for (const auto& [s, h, heads, f] :
         {std::tuple{33, 96, 12, 384}, std::tuple{1, 8, 1, 32}, std::tuple{128, 60, 5, 7}}) {
        for (const double part : {1.0, 0.2, 1.0 / 3}) {
            const double sequence = s, width = h, hidden = f;
            const std::vector<std::pair<Layer, double>> layers{
                {attention("a", {.positions = s, .width = h, .heads = heads, .scores = Scores::stored}),
                 4 * sequence * width * width + 2 * sequence * sequence * width},
                {feed_forward("f", FeedForward{.positions = s, .width = h, .hidden = f}),
                 2 * sequence * width * hidden}};
            for (const auto& [layer, macs] : layers) {
                const Share share{.samples = 3, .fraction = part};
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

TEST_CASE("flash attention is one kernel that moves no scores and computes them once more in the backward pass",
          "[memory]") {
    // T. Dao, "FlashAttention-2", section 3.1.2: 2 products forward, 5 backward. Half of 4 heads of width 3, 5
    // positions, 2 samples: 2·5·6 = 60 elements of queries, keys, values, and outputs.
    const Layer layer = attention("a", {.positions = 5, .width = 12, .heads = 4, .bias = false, .dropout = false});
    const Share share{.samples = 2, .fraction = 0.5};
    const auto forward = kernels(layer, Pass::forward, share, Lowering::implicit);
    REQUIRE(forward.size() == 5);
    check(forward[2], "attention", 2 * 4 * 2.0 * 5 * 5 * 3, 4 * 60);
    CHECK(forward[2].attention);
    const auto inputs = kernels(layer, Pass::input_gradient, share, Lowering::implicit);
    REQUIRE(inputs.size() == 5);
    // Both passes read queries, keys and values; the backward pass also outputs and their gradient, and it writes
    // three.
    check(inputs[1], "attention", 5 * 4 * 2.0 * 5 * 5 * 3, 8 * 60);
    CHECK(inputs[1].attention);
    CHECK(kernels(layer, Pass::weight_gradient, share, Lowering::implicit).size() == 2);
    const Layer stored = attention("a", {.positions = 5, .width = 12, .heads = 4, .scores = Scores::stored});
    CHECK(flops(forward) == flops(kernels(stored, Pass::forward, share, Lowering::implicit)));
}

TEST_CASE("fewer heads of keys and values, a window and a context shorten attention's products", "[memory]") {
    for (const Scores scores : {Scores::flash, Scores::stored}) {
        // 6 heads of 3, 2 of keys and values, 10 positions of which 4 are seen, width 12.
        Attention shape{
            .positions = 10, .width = 12, .heads = 6, .kv_heads = 2, .head_size = 3, .window = 4, .scores = scores};
        const auto work = [&](double part) {
            return flops(kernels(attention("a", shape), Pass::forward, {.fraction = part}, Lowering::implicit));
        };
        const double products = 2.0 * 6 * 10 * 4 * 3 * 2;
        CHECK(work(1) == Approx(2.0 * 10 * 12 * (18 + 2 * 6) + products + 2.0 * 10 * 18 * 12).epsilon(1e-12));
        // One of three ranks has 2 heads, and one of keys and values; one of six has one of each, too.
        CHECK(work(1.0 / 3) == Approx(2.0 * 10 * 12 * (6 + 6) + products / 3 + 2.0 * 10 * 6 * 12).epsilon(1e-12));
        CHECK(work(1.0 / 6) == Approx(2.0 * 10 * 12 * (3 + 6) + products / 6 + 2.0 * 10 * 3 * 12).epsilon(1e-12));
        shape.window = 0, shape.kv_heads = 0, shape.context = 7;
        CHECK(work(1) == Approx(2.0 * 10 * 12 * 18 + 2.0 * 7 * 12 * 36 + 2.0 * 6 * 10 * 7 * 3 * 2 + 2.0 * 10 * 18 * 12)
                             .epsilon(1e-12));
        shape.rotary = true;
        const auto rotated = kernels(attention("a", shape), Pass::forward, {}, Lowering::implicit);
        check(rotated[3], "rotation", 0, 2 * (10 * 18 + 7 * 18));
    }
}

TEST_CASE("separate element-wise operations: kernels of a rotation and of a gate, by hand", "[memory]") {
    const Operations separate{Elementwise::separate};
    const Share share{.samples = 2};
    const Layer rotated = attention(
        "a",
        {.positions = 10, .width = 12, .heads = 3, .kv_heads = 1, .rotary = true, .bias = false, .dropout = false});
    const double queries = 2 * 10 * 12, keys = 2 * 10 * 4;
    const auto moved = [](const std::vector<Kernel>& all, const std::string& name) {
        double elements = 0;
        for (const Kernel& kernel : all)
            if (kernel.name.starts_with(name)) elements += kernel.elements * static_cast<double>(kernel.count);
        return elements;
    };
    for (const Pass pass : {Pass::forward, Pass::input_gradient}) {
        const auto all = kernels(rotated, pass, share, Lowering::implicit, separate);
        CHECK(moved(all, "rotation") == Approx(10 * (queries + keys)));
        CHECK(std::count_if(all.begin(), all.end(),
                            [](const Kernel& one) { return one.name.starts_with("rotation"); }) == 10);
    }
    // Gradients of queries, keys and values are joined.
    CHECK(moved(kernels(rotated, Pass::input_gradient, share, Lowering::implicit, separate), "gradients of queries") ==
          Approx(2 * (queries + 2 * keys)));

    FeedForward shape{.positions = 9, .width = 10, .hidden = 12, .gated = true, .bias = false, .dropout = false};
    const double rows = 18, units = rows * 12;
    auto forward = kernels(feed_forward("f", shape), Pass::forward, share, Lowering::implicit, separate);
    REQUIRE(forward.size() == 6);
    check(forward[1], "to hidden units", 2 * rows * 12 * 10, rows * 12 + rows * 10 + 12 * 10, 2, 10);  // two products
    check(forward[2], "GELU", 0, 2 * units);
    check(forward[3], "product with the gate", 0, 3 * units);
    auto backward = kernels(feed_forward("f", shape), Pass::input_gradient, share, Lowering::implicit, separate);
    CHECK(moved(backward, "product with the gate") == Approx(6 * units));
    CHECK(moved(backward, "sum of both inputs' gradients") == Approx(3 * rows * 10));
    CHECK(moved(backward, "zeros") == 0);
    shape.merged_gate = true;
    forward = kernels(feed_forward("f", shape), Pass::forward, share, Lowering::implicit, separate);
    check(forward[1], "to hidden units", 2 * rows * 24 * 10, rows * 24 + rows * 10 + 24 * 10, 1, 10);
    backward = kernels(feed_forward("f", shape), Pass::input_gradient, share, Lowering::implicit, separate);
    CHECK(moved(backward, "zeros") + moved(backward, "filled up") + moved(backward, "sum of both factors") ==
          Approx(16 * units));
    CHECK(moved(backward, "sum of both inputs' gradients") == 0);
}

TEST_CASE("separate element-wise operations: the same products, and at least as many kernels and bytes", "[memory]") {
    std::mt19937 random(3);
    const auto any = [&](int most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
    for (int i = 0; i < 200; ++i) {
        const std::int64_t heads = any(4), width = heads * 2 * any(8), positions = any(20);
        const bool dropout = i % 2 == 0;
        const Attention attends{.positions = positions,
                                .width = width,
                                .heads = heads,
                                .rotary = i % 3 == 0,
                                .dropout = dropout,
                                .scores = i % 5 == 0 ? Scores::stored : Scores::flash};
        const FeedForward feeds{.positions = positions,
                                .width = width,
                                .hidden = any(40),
                                .gated = i % 4 < 2,
                                .dropout = dropout,
                                .merged_gate = i % 4 == 0};
        const Layer layers[] = {attention("a", attends), feed_forward("f", feeds),
                                parallel_block("b", {attends, feeds})};
        for (const Layer& layer : layers)
            for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient}) {
                CAPTURE(i, layer.name, static_cast<int>(pass));
                const Share share{.samples = 3};
                const auto fused = kernels(layer, pass, share, Lowering::implicit),
                           separate = kernels(layer, pass, share, Lowering::implicit, {Elementwise::separate});
                const auto bytes = [](const std::vector<Kernel>& all) {
                    double sum = 0;
                    for (const Kernel& kernel : all) sum += kernel.moved(2) * static_cast<double>(kernel.count);
                    return sum;
                };
                CHECK(flops(separate) == Approx(flops(fused)));
                CHECK(separate.size() >= fused.size());
                CHECK(bytes(separate) >= bytes(fused) * (1 - 1e-12));
                // Autocast moves more, and most as kernels of their own.
                const auto wide = kernels(layer, pass, share, Lowering::implicit, {Elementwise::fused, true}),
                           cast = kernels(layer, pass, share, Lowering::implicit, {Elementwise::separate, true});
                CHECK(wide.size() == fused.size());
                CHECK(bytes(wide) >= bytes(fused));
                CHECK(bytes(cast) > bytes(separate));
                CHECK(flops(cast) == Approx(flops(fused)));
            }
    }
}

TEST_CASE("autocast: bytes of a feed-forward half by hand", "[memory]") {
    const Layer layer = feed_forward("f", {.positions = 9, .width = 10, .hidden = 12, .bias = false, .dropout = false});
    const double values = 2 * 9 * 10, weights = 2 * 10 * 12, norm = 2 * 10;  // LayerNorm has a scale and a shift
    const auto bytes = [&](Pass pass, const Operations& operations) {
        double sum = 0;
        for (const Kernel& kernel : kernels(layer, pass, {.samples = 2}, Lowering::implicit, operations))
            if (!kernel.product) sum += kernel.moved(2);
        return sum;
    };
    const auto more = [&](Pass pass) {
        return bytes(pass, {Elementwise::separate, true}) - bytes(pass, {Elementwise::separate});
    };
    // Normalisation in 4 bytes, a conversion of its result, the sum's input and result in 4 bytes; weights.
    CHECK(more(Pass::forward) == Approx(2 * (2 * values + norm) + 6 * values + 4 * values + 6 * weights));
    // A conversion for the branch, and of the gradient that comes back; normalisation and sum in 4 bytes.
    CHECK(more(Pass::input_gradient) == Approx(6 * values + 6 * values + 2 * (5 * values + 2 * norm) + 2 * 3 * values));
    CHECK(more(Pass::weight_gradient) == Approx(6 * weights));
}

TEST_CASE("a gated feed-forward layer has one more matrix, and RMSNorm one parameter less per element", "[memory]") {
    const Layer layer =
        feed_forward("f", {.positions = 9, .width = 10, .hidden = 12, .gated = true, .bias = false, .norm = Norm::rms});
    const Share share{.samples = 2, .fraction = 0.5};  // 18 rows, 6 units
    const auto forward = kernels(layer, Pass::forward, share, Lowering::implicit);
    REQUIRE(forward.size() == 5);
    check(forward[0], "normalisation", 0, 2 * 180 + 10);
    check(forward[1], "to hidden units", 2.0 * 18 * 12 * 10, 18 * 12 + 18 * 10 + 12 * 10, 1, 10);
    check(forward[2], "gated activation", 0, 3 * 18 * 6);
    check(forward[3], "from hidden units", 2.0 * 18 * 10 * 6, 18 * 10 + 18 * 6 + 10 * 6, 1, 6);
    const auto inputs = kernels(layer, Pass::input_gradient, share, Lowering::implicit);
    check(inputs[2], "gated activation", 0, 5 * 18 * 6);
    // After the dropout's backward pass.
    check(inputs[0], "dropout", 0, 2 * 180, 1, 0, 180);
    check(inputs[4], "normalisation", 0, 5 * 180 + 2 * 10);
}

TEST_CASE("a parallel block has the kernels of both halves and one addition", "[memory]") {
    const Attention first{.positions = 9, .width = 10, .heads = 2};
    const FeedForward second{.positions = 9, .width = 10, .hidden = 12, .norm = Norm::none};
    for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient}) {
        const auto both = kernels(parallel_block("b", {first, second}), pass, {.samples = 2}, Lowering::implicit);
        const auto attends = kernels(attention("a", first), pass, {.samples = 2}, Lowering::implicit);
        const auto feeds = kernels(feed_forward("f", second), pass, {.samples = 2}, Lowering::implicit);
        // Backward, one kernel drops the gradients of both halves.
        const std::size_t shared = pass == Pass::weight_gradient ? 0 : pass == Pass::forward ? 1 : 2;
        CHECK(both.size() == attends.size() + feeds.size() - shared);
        CHECK(flops(both) == Approx(flops(attends) + flops(feeds)).epsilon(1e-12));
        if (pass == Pass::forward) check(both.back(), "residual addition", 0, 4 * 180, 1, 0, 2 * 180);
        if (pass == Pass::input_gradient) {
            check(both.front(), "dropout", 0, 2 * 360, 1, 0, 360);
            check(both.back(), "residual addition", 0, 4 * 180);
        }
    }
}

TEST_CASE("experts are a batch of products, with rows in proportion to the experts that a token uses", "[memory]") {
    // 2 samples of 9 tokens, 8 experts of 12 units of which each token uses 2: 36 rows, 4.5 for each expert.
    Experts shape{.positions = 9, .width = 10, .hidden = 12, .experts = 8, .top_k = 2, .gated = true};
    const auto forward = [&](const Share& share) {
        return kernels(experts("e", shape), Pass::forward, share, Lowering::implicit);
    };
    const auto all = forward({.samples = 2, .fraction = 0.5});
    REQUIRE(all.size() == 11);
    check(all[1], "router", 2.0 * 18 * 8 * 10, 18 * 8 + 18 * 10 + 8 * 10, 1, 8);
    check(all[2], "choice of experts", 0, 2 * 18 * 8);
    check(all[3], "dispatch", 0, 2 * 36 * 10);
    check(all[4], "sort by expert", 0, 2 * 36 * 10);
    check(all[5], "experts: to hidden units", 2.0 * 36 * 12 * 10, 36 * 12 + 36 * 10 + 8 * 12 * 10, 1, 4.5);
    check(all[6], "gated activation", 0, 3 * 36 * 6);
    check(all[7], "experts: from hidden units", 2.0 * 36 * 10 * 6, 36 * 10 + 36 * 6 + 8 * 10 * 6, 1, 4.5);
    check(all[8], "sort by expert", 0, 2 * 36 * 10);
    check(all[9], "combination", 0, (36 + 18) * 10);
    check(all[10], "residual addition", 0, 3 * 180);
    // A rank with a quarter of the experts computes as many rows, for fewer of them.
    const auto quarter = forward({.samples = 2, .fraction = 0.5, .experts = 0.25});
    REQUIRE(quarter.size() == 11);
    check(quarter[5], "experts: to hidden units", all[5].flops, 36 * 12 + 36 * 10 + 2 * 12 * 10, 1, 10);
    // Four rows, of which two divide an expert and have half of the tokens: the products are a quarter.
    const auto folded = forward({.samples = 2, .fraction = 0.25, .experts = 0.25, .routed = RoutedShare{0.5, 0.5}});
    check(folded[5], "experts: to hidden units", 2.0 * 18 * 12 * 10, 18 * 12 + 18 * 10 + 2 * 12 * 10, 1, 9);
    check(folded[7], "experts: from hidden units", 2.0 * 18 * 10 * 6, 18 * 10 + 18 * 6 + 2 * 10 * 6, 1, 6);
    shape.capacity = 1.25;
    CHECK(forward({.samples = 2, .fraction = 0.5})[5].flops == Approx(1.25 * all[5].flops).epsilon(1e-12));
    shape.capacity = 0;
    shape.shared = 2, shape.shared_hidden = 5;
    const auto shared = forward({.samples = 2});
    REQUIRE(shared.size() == 14);
    check(shared[9], "shared experts: to hidden units", 2.0 * 18 * 20 * 10, 18 * 20 + 18 * 10 + 20 * 10, 1, 10);
}

TEST_CASE("experts: operations that are not fused move almost twelve times the tokens' copies more", "[memory]") {
    // 18 tokens and 36 copies of 10 elements.
    Experts shape{.positions = 9, .width = 10, .hidden = 12, .experts = 8, .top_k = 2};
    const auto list = [&](Pass pass) { return kernels(experts("e", shape), pass, {.samples = 2}, Lowering::implicit); };
    const auto moved = [&] {
        double elements = 0;
        for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient})
            for (const Kernel& kernel : list(pass)) elements += kernel.elements;
        return elements;
    };
    const double fused = moved(), copies = 36 * 10, sum = 18 * 10;
    shape.fused_permutation = false;
    CHECK(moved() == Approx(fused + 12 * copies - sum));
    const auto forward = list(Pass::forward), backward = list(Pass::input_gradient);
    REQUIRE(forward.size() == 12);
    check(forward[3], "dispatch", 0, 2 * copies);
    check(forward[9], "products with router weights", 0, 2 * copies);
    check(forward[10], "combination", 0, 3 * copies + sum);
    REQUIRE(backward.size() == 14);
    check(backward[0], "combination", 0, 2 * copies);
    check(backward[1], "products with router weights", 0, 2 * copies);
    check(backward[2], "products with results", 0, 3 * copies);
    check(backward[3], "sums of products", 0, copies);
    check(backward[9], "dispatch", 0, 3 * copies + sum);
}

TEST_CASE("experts: a framework launches the choice in many kernels, and waits for counts without a capacity",
          "[memory]") {
    Experts shape{.positions = 9, .width = 10, .hidden = 12, .experts = 8, .top_k = 2};
    const auto list = [&](Pass pass, Lowering lowering, double own = 1) {
        return kernels(experts("e", shape), pass, {.samples = 2, .experts = own}, lowering);
    };
    const auto forward = list(Pass::forward, Lowering::launched);
    check(forward[2], "choice of experts", 0, 2 * 18 * 8, 44);
    CHECK(std::count_if(forward.begin(), forward.end(), [](const Kernel& kernel) { return kernel.waits; }) == 1);
    CHECK(forward[3].waits);
    CHECK_FALSE(list(Pass::forward, Lowering::implicit)[3].waits);
    for (const Kernel& kernel : list(Pass::input_gradient, Lowering::launched)) CHECK_FALSE(kernel.waits);
    shape.capacity = 1;
    CHECK_FALSE(list(Pass::forward, Lowering::launched)[3].waits);
    // Products of several experts, by pass; gradients of weights are marked in any case.
    for (const auto& [pass, grouped] :
         {std::pair{Pass::forward, GroupedPass::forward}, std::pair{Pass::input_gradient, GroupedPass::inputs},
          std::pair{Pass::weight_gradient, GroupedPass::weights}})
        for (const double own : {1.0, 0.125})
            for (const Kernel& kernel : list(pass, Lowering::launched, own)) {
                if (!kernel.name.starts_with("experts: ")) continue;
                CHECK(kernel.grouped == (own == 1 ? std::optional(grouped) : std::nullopt));
                CHECK(kernel.weights == (pass == Pass::weight_gradient));
            }
}

TEST_CASE("a rank with several experts sorts tokens by expert, and back", "[memory]") {
    const Experts shape{.positions = 9, .width = 10, .hidden = 12, .experts = 8, .top_k = 2, .capacity = 1.5};
    const auto sorts = [&](Pass pass, const Share& share) {
        std::vector<std::size_t> places;
        const std::vector<Kernel> list = kernels(experts("e", shape), pass, share, Lowering::implicit);
        // Each reads and writes 3 · 18 tokens of 10 elements, unless these are fewer or more.
        const double each = 2 * 3 * 18 * 10 * share.load * share.routed_tokens();
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].name != "sort by expert") continue;
            places.push_back(i);
            CHECK(list[i].elements == Approx(each));
            CHECK(list[i].flops == 0);
            CHECK(list[i].core);
        }
        // The experts are between them, and nothing else.
        if (places.size() == 2) {
            CHECK(list[places[0] + 1].name.starts_with("experts: "));
            CHECK(list[places[1] - 1].name.starts_with("experts: "));
            CHECK(places[1] - places[0] == 4);
        }
        return places.size();
    };
    for (const Pass pass : {Pass::forward, Pass::input_gradient}) {
        CHECK(sorts(pass, {.samples = 2}) == 2);
        CHECK(sorts(pass, {.samples = 2, .experts = 0.125}) == 0);
        CHECK(sorts(pass, {.samples = 2, .experts = 0.25}) == 2);
        CHECK(sorts(pass, {.samples = 2, .fraction = 0.5, .positions = 0.5, .experts = 0.5}) == 2);
        CHECK(sorts(pass, {.samples = 2, .experts = 0.5, .load = 1.75}) == 2);
        CHECK(sorts(pass, {.samples = 2, .fraction = 0.25, .experts = 0.5, .routed = RoutedShare{1, 0.25}}) == 2);
    }
    CHECK(sorts(Pass::weight_gradient, {.samples = 2, .experts = 0.25}) == 0);
}

TEST_CASE("kernels of today's layers have the operations of their multiply-accumulates, and at least twice backward",
          "[memory]") {
    for (const auto& [s, h, heads] : {std::tuple{33, 96, 12}, std::tuple{1, 8, 2}, std::tuple{128, 60, 5}}) {
        const Attention grouped{.positions = s, .width = h, .heads = heads, .kv_heads = 1, .window = 5, .rotary = true};
        const Attention latent{.positions = s,
                               .width = h,
                               .heads = heads,
                               .head_size = 7,
                               .query_rank = 6,
                               .kv_rank = 5,
                               .rotary_size = 3};
        const FeedForward gated{.positions = s, .width = h, .hidden = 13, .gated = true};
        Experts choice{
            .positions = s, .width = h, .hidden = 17, .experts = 6, .top_k = 3, .shared = 1, .shared_hidden = 9};
        for (const Layer& layer : {attention("grouped", grouped), attention("latent", latent),
                                   parallel_block("block", {grouped, gated}), experts("experts", choice)}) {
            CAPTURE(layer.name, s, h);
            const Share share{.samples = 3};
            const double forward = flops(kernels(layer, Pass::forward, share, Lowering::implicit));
            CHECK(forward == Approx(2.0 * 3 * static_cast<double>(layer.macs)).epsilon(1e-12));
            const double backward = flops(kernels(layer, Pass::weight_gradient, share, Lowering::implicit)) +
                                    flops(kernels(layer, Pass::input_gradient, share, Lowering::implicit));
            double again = 0;  // scores of flash attention
            const double pairs = 2.0 * 3 * heads * s;
            if (layer.name == "latent") again = pairs * s * (7 + 3);
            if (layer.name == "grouped" || layer.name == "block") again = pairs * std::min(s, 5) * (h / heads);
            CHECK(backward == Approx(2 * forward + again).epsilon(1e-12));
        }
    }
}

TEST_CASE("ranks together have the operations of a whole layer of any shape, and the router's once each", "[memory]") {
    std::mt19937 random(7);
    const auto draw = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    for (int round = 0; round < 200; ++round) {
        const std::int64_t ranks = draw(1, 5), groups = ranks * draw(1, 3), s = draw(1, 50), h = draw(1, 40);
        Attention first{.positions = s, .width = h, .heads = groups * draw(1, 4), .kv_heads = groups};
        first.head_size = draw(1, 9);
        if (draw(0, 1) == 0) first.window = draw(1, 60);
        if (first.window == 0 && draw(0, 1) == 0) first.context = draw(1, 60);
        if (draw(0, 1) == 0) first.scores = Scores::stored;
        const FeedForward second{.positions = s, .width = h, .hidden = ranks * draw(1, 9), .gated = draw(0, 1) == 0};
        Experts choice{.positions = s, .width = h, .hidden = ranks * draw(1, 9), .experts = draw(1, 7)};
        choice.top_k = draw(1, choice.experts);
        choice.shared = draw(0, 2), choice.shared_hidden = ranks * draw(1, 9);
        for (const Layer& layer : {attention("a", first), feed_forward("f", second),
                                   parallel_block("b", {first, second}), experts("e", choice)}) {
            CAPTURE(round, layer.name, ranks);
            const double router = layer.name == "e" ? 2.0 * static_cast<double>(s * h * choice.experts) : 0;
            for (const Pass pass : {Pass::forward, Pass::weight_gradient, Pass::input_gradient}) {
                const double whole = flops(kernels(layer, pass, {}, Lowering::implicit));
                const double part =
                    flops(kernels(layer, pass, {.fraction = 1 / static_cast<double>(ranks)}, Lowering::implicit));
                CHECK(static_cast<double>(ranks) * (part - router) == Approx(whole - router).margin(1e-6));
                if (pass == Pass::forward) CHECK(whole == Approx(2 * static_cast<double>(layer.macs)));
            }
        }
    }
}

TEST_CASE("an embedding bag moves the rows that samples take, and patches are one product", "[memory]") {
    const Layer bag = embedding_bag("bag", {.tables = 3, .rows = 1000, .lookups = 7, .width = 8});
    CHECK(bag.parameters == 8000);
    check(kernels(bag, Pass::forward, {.samples = 5}, Lowering::implicit)[0], "rows", 0, 5 * (7 + 3) * 8);
    check(kernels(bag, Pass::weight_gradient, {.samples = 5, .fraction = 0.5}, Lowering::implicit)[0], "rows", 0,
          3 * 5 * 3.5 * 8);
    CHECK(kernels(bag, Pass::input_gradient, {}, Lowering::implicit).empty());
    const Layer patches =
        patch_embedding("p", {.channels = 3, .height = 8, .width = 12, .patch = {4, 4}, .outputs = 10, .extra = 1});
    // The convolution that it equals has as many operations; 6 patches, 7 positions and a token are learned.
    const Layer same = convolution(
        "c",
        {.channels = 3, .height = 8, .width = 12, .filters = 10, .kernel = {4, 4}, .stride = {4, 4}, .bias = true});
    CHECK(patches.parameters == same.parameters + 7 * 10 + 10);
    CHECK(patches.macs == same.macs);
    CHECK(patches.activations == same.activations + 10);
    const auto forward = kernels(patches, Pass::forward, {.samples = 2}, Lowering::implicit);
    REQUIRE(forward.size() == 1);
    CHECK(forward[0].flops == 2.0 * 2 * static_cast<double>(same.macs));
    CHECK(forward[0].product->narrowest() == 10);
}

TEST_CASE("an embedding moves rows, and its gradient is a whole table", "[memory]") {
    Embedding shape{.vocabulary = 100, .positions = 5, .width = 8, .dropout = false};
    const Layer layer = embedding("e", shape);
    const auto forward = kernels(layer, Pass::forward, {.samples = 3, .fraction = 0.25}, Lowering::implicit);
    REQUIRE(forward.size() == 1);
    check(forward[0], "rows", 0, 1.25 * 120 + 120);
    const auto weights = kernels(layer, Pass::weight_gradient, {.samples = 3, .fraction = 0.25}, Lowering::implicit);
    REQUIRE(weights.size() == 2);
    check(weights[0], "clearing", 0, 25 * 8);
    check(weights[1], "rows", 0, 3 * 30);
    CHECK(kernels(layer, Pass::input_gradient, {}, Lowering::implicit).empty());
    shape.dropout = true;  // of the sum, or of this rank's positions
    for (const Pass pass : {Pass::forward, Pass::weight_gradient}) {
        const auto dropped = kernels(embedding("e", shape), pass, {.samples = 3, .fraction = 0.25, .positions = 0.25},
                                     Lowering::implicit);
        check(pass == Pass::forward ? dropped.back() : dropped.front(), "dropout", 0, 2 * 30, 1, 0, 30);
    }
}

TEST_CASE("a loss follows outputs that stay split, in 4 bytes", "[memory]") {
    // 2·9 rows of half of 12 logits. Forward: 2 B and 4 B for the copy, 4 + 4 for the softmax. Backward: 4 to clear, 4
    // + 4 + 4 of the softmax's gradient, 4 and 2 for the copy.
    const Layer head = dense("head", Dense{.inputs = 10, .outputs = 12, .positions = 9, .gathered = false});
    const Share share{.samples = 2, .fraction = 0.5};
    const double logits = 18 * 6;
    const auto moved = [](const std::vector<Kernel>& all) {
        double bytes = 0;
        for (const Kernel& kernel : all)
            if (!kernel.product) bytes += kernel.moved(2);
        return bytes;
    };
    CHECK(moved(kernels(head, Pass::forward, share, Lowering::implicit)) == Approx(14 * logits));
    CHECK(moved(kernels(head, Pass::input_gradient, share, Lowering::implicit)) == Approx(22 * logits));
    CHECK(kernels(head, Pass::weight_gradient, share, Lowering::implicit).size() == 1);
}

TEST_CASE("a normalisation before a dense layer, or after an embedding, is done whole, backward too", "[memory]") {
    // 2·9 = 18 vectors of 10.
    const Layer head = dense("head", Dense{.inputs = 10, .outputs = 12, .positions = 9, .norm = Norm::layer});
    for (const Lowering lowering : {Lowering::implicit, Lowering::im2col}) {
        const auto forward = kernels(head, Pass::forward, {.samples = 2, .fraction = 0.5}, lowering);
        REQUIRE(forward.size() == 2);
        check(forward[0], "normalisation", 0, 2 * 180 + 2 * 10);
        CHECK(forward[1].flops == Approx(2.0 * 18 * 6 * 10));
        const auto inputs = kernels(head, Pass::input_gradient, {.samples = 2, .fraction = 0.5}, lowering);
        REQUIRE(inputs.size() == 2);
        check(inputs[1], "normalisation", 0, 5 * 180 + 4 * 10);
        CHECK(kernels(head, Pass::weight_gradient, {.samples = 2, .fraction = 0.5}, lowering).size() == 1);
    }
    const Embedding shape{.vocabulary = 100,
                          .positions = 9,
                          .width = 10,
                          .learned_positions = false,
                          .segments = 2,
                          .norm = Norm::layer,
                          .dropout = false};
    const Layer table = embedding("e", shape);
    const auto rows = kernels(table, Pass::forward, {.samples = 2, .fraction = 0.5}, Lowering::implicit);
    REQUIRE(rows.size() == 2);
    check(rows[0], "rows", 0, 2.5 * 180);
    check(rows[1], "normalisation", 0, 2 * 180 + 2 * 10);
    const auto weights = kernels(table, Pass::weight_gradient, {.samples = 2, .fraction = 0.5}, Lowering::implicit);
    REQUIRE(weights.size() == 3);
    check(weights[0], "normalisation", 0, 5 * 180 + 4 * 10);
}

TEST_CASE("shipped transformers' kernels have the operations of their layers", "[memory]") {
    for (const std::string& name : shipped_transformers) {
        for (const Layer& layer : shipped_model(name).layers) {
            const Share share{.samples = 4, .fraction = 0.125};
            CAPTURE(name, layer.name);
            double macs = static_cast<double>(layer.macs);
            if (const auto* attends = std::get_if<Attention>(&layer.shape)) macs -= masked_macs(*attends);
            if (const auto* both = std::get_if<ParallelBlock>(&layer.shape)) macs -= masked_macs(both->attention);
            CHECK(flops(kernels(layer, Pass::forward, share, Lowering::implicit)) ==
                  Approx(2 * macs * 4 / 8).epsilon(1e-12));
        }
    }
}

TEST_CASE("fused causal attention computes the scores of a token and those before it, in its window", "[memory]") {
    for (const std::int64_t window : {0, 1, 3, 7, 20}) {
        Attention shape{.positions = 7, .width = 12, .heads = 2, .window = window};
        const auto work = [&](Pass pass) {
            for (const Kernel& kernel : kernels(attention("a", shape), pass, {.samples = 3}, Lowering::implicit))
                if (kernel.attention) return kernel.flops;
            return 0.0;
        };
        const double forward = work(Pass::forward), backward = work(Pass::input_gradient);
        const Layer whole = attention("a", shape);
        shape.causal = true;
        CAPTURE(window);
        CHECK(work(Pass::forward) == Approx(forward - 3 * 2 * masked_macs(shape)).epsilon(1e-12));
        // Five products in place of two.
        CHECK(work(Pass::input_gradient) == Approx(backward - 3 * 5 * masked_macs(shape)).epsilon(1e-12));
        CHECK(attention("a", shape).macs == whole.macs);
        shape.scores = Scores::stored;
        const double stored = flops(kernels(attention("a", shape), Pass::forward, {}, Lowering::implicit));
        CHECK(stored == Approx(2.0 * static_cast<double>(whole.macs)));
    }
}

TEST_CASE("matrix products of convolutions and dense layers have the layer's operations, however they are divided",
          "[memory]") {
    for (const std::string& name : shipped_cnns) {
        const Model model = shipped_model(name);
        for (const Layer& layer : model.layers) {
            for (const Share& share : {Share{.samples = 64}, Share{.samples = 1, .fraction = 1.0 / 3},
                                       Share{.samples = 0.5, .fraction = 0.125, .area = 0.25}}) {
                const double expected =
                    2 * static_cast<double>(layer.macs) * share.samples * share.fraction * share.area;
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

TEST_CASE("the first layer needs no gradient of its inputs, except for its own weights' gradients", "[memory]") {
    Model model = every_kind();
    for (std::size_t i = 1; i < model.layers.size(); ++i)
        CHECK(has_input_gradient(model, i) == (model.layers[i].name != "embedding" && model.layers[i].name != "bag"));
    for (const Layer& layer : every_kind().layers) {
        model.layers = {layer};
        CHECK(has_input_gradient(model, 0) == (layer.name == "attention" || layer.name == "feed-forward" ||
                                               layer.name == "block" || layer.name == "experts"));
    }
}

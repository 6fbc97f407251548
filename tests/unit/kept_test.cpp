#include "sim/workload/kept.hpp"
#include "tests/catch.hpp"

// V. Korthikanti et al., "Reducing activation recomputation in large transformer models", MLSys 2023, equations 1 to 4:
// bytes of a transformer's layer in 16 bits, of s positions, b samples, width h, a heads, on t ranks.

using namespace syncline;

namespace {

Layer layer_of(LayerShape shape, std::int64_t inputs = 0, std::int64_t outputs = 0) {
    Layer layer;
    layer.inputs = inputs;
    layer.activations = outputs;
    layer.shape = shape;
    return layer;
}

Model of_elements(double bytes) {
    Model model;
    model.element_bytes = bytes;
    return model;
}

struct Transformer {
    std::int64_t s, h, a;

    double kept(const Share& share, std::int64_t sequence_ranks = 1) const {
        const Model model = of_elements(2);
        return kept_bytes(model, layer_of(Attention{s, h, a}), share, sequence_ranks) +
               kept_bytes(model, layer_of(FeedForward{s, h, 4 * h}), share, sequence_ranks);
    }
    double sh() const { return static_cast<double>(s * h); }
    double scores() const { return 5 * static_cast<double>(a * s) / static_cast<double>(h); }
};

constexpr Transformer gpt3{2048, 12288, 96}, mt_nlg{2048, 20480, 128};

}  // namespace

TEST_CASE("a transformer's layer keeps the bytes of Korthikanti et al., on any number of tensor and sequence ranks") {
    for (const Transformer& layer : {gpt3, mt_nlg, Transformer{512, 1024, 16}, Transformer{7, 48, 48}}) {
        for (const double b : {1.0, 3.0}) {
            for (const std::int64_t t : {1, 2, 8, 16}) {
                const auto ranks = static_cast<double>(t);
                CAPTURE(layer.s, layer.h, layer.a, b, t);
                CHECK(layer.kept({.samples = b, .part = 1 / ranks}) ==
                      Approx(layer.sh() * b * (10 + 24 / ranks + layer.scores() / ranks)).epsilon(1e-12));
                CHECK(layer.kept({.samples = b, .part = 1 / ranks}, t) ==
                      Approx(layer.sh() * b / ranks * (34 + layer.scores())).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE("attention scores take the published 70 % and 65 % of the memory that GPT-3's and MT-NLG's layers keep") {
    for (const auto& [layer, published] : {std::pair{gpt3, 0.70}, std::pair{mt_nlg, 0.65}}) {
        const Transformer without_scores{layer.s, layer.h, 0};
        const double saved = 1 - without_scores.kept({}) / layer.kept({});
        CHECK(std::abs(saved - published) < 0.005);
    }
}

TEST_CASE("kept bytes scale with the element size, except for masks") {
    const auto kept = [](double element) {
        return kept_bytes(of_elements(element), layer_of(Attention{10, 6, 3}), {}) +
               kept_bytes(of_elements(element), layer_of(FeedForward{10, 6, 20}), {});
    };
    const double masks = 2 * 10 * 6 + 3 * 10 * 10;
    CHECK(kept(4) - masks == 2 * (kept(2) - masks));
}

TEST_CASE("a convolution keeps all of its inputs, and before a normalisation also its own outputs") {
    const Convolution plain{.channels = 3, .height = 8, .width = 8, .filters = 16, .kernel = {3, 3}, .padding = {1, 1}};
    Convolution normalised = plain;
    normalised.batch_norm = true;
    const Model model = of_elements(4);
    const Layer conv = convolution("conv", plain), norm = convolution("norm", normalised);
    CHECK(kept_bytes(model, conv, {.samples = 5}) == 5 * 3 * 64 * 4);
    CHECK(kept_bytes(model, norm, {.samples = 5}) == 5 * (3 + 16) * 64 * 4);
    CHECK(kept_bytes(model, conv, {.samples = 5, .part = 0.25}) == 5 * 3 * 64 * 4);
    CHECK(kept_bytes(model, norm, {.samples = 5, .part = 0.25}) == 5 * (3 + 4) * 64 * 4);
    CHECK(kept_bytes(model, norm, {.samples = 5, .part = 0.25, .area = 0.5}) == 5 * (3 + 4) * 32 * 4);
    CHECK(kept_bytes(model, norm, {.samples = 0}) == 0);
}

TEST_CASE("dense and custom layers keep their inputs, of which ranks divide positions but not an image") {
    const Model model = of_elements(2);
    const Share quarter{.samples = 3, .part = 0.25};
    CHECK(kept_bytes(model, dense("fc", 100, 40, true), quarter) == 3 * 100 * 2);
    CHECK(kept_bytes(model, dense("fc", 100, 40, true), quarter, 4) == 3 * 100 * 2);
    CHECK(kept_bytes(model, layer_of(Custom{}, 70, 20), quarter, 4) == 3 * 70 * 2);
    const Layer tokens = layer_of(Dense{.inputs = 100, .outputs = 40, .positions = 8}, 8 * 100, 8 * 40);
    CHECK(kept_bytes(model, tokens, quarter) == 3 * 8 * 100 * 2);
    CHECK(kept_bytes(model, tokens, quarter, 4) == 3 * 8 * 100 * 2 / 4);
}

TEST_CASE("at the vocabulary the dropout's mask after the embedding and the inputs and logits of the head are kept") {
    // Korthikanti et al., section 4.3: sbh; 2sbh of the output layer, and 4sbv in 32 bits for the loss.
    constexpr std::int64_t s = 16, h = 12, v = 40;
    const Model model = of_elements(2);
    const Layer embedding = layer_of(Embedding{v, s, h}, s, s * h);
    const Layer head = layer_of(Dense{.inputs = h, .outputs = v, .positions = s, .gathered = false}, s * h, s * v);
    const Share half{.samples = 1, .part = 0.5};
    CHECK(kept_bytes(model, embedding, half) == s * h);
    CHECK(kept_bytes(model, embedding, half, 2) == s * h / 2);
    CHECK(kept_bytes(model, head, half) == 2 * s * h + 4 * s * v / 2);
    CHECK(kept_bytes(model, head, half, 2) == s * h + 4 * s * v / 2);
}

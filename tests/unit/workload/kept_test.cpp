#include "sim/workload/kept.hpp"
#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

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

Attention stored(std::int64_t s, std::int64_t h, std::int64_t a) {
    return {.positions = s, .width = h, .heads = a, .scores = Scores::stored};
}

struct Transformer {
    std::int64_t s, h, a;

    double kept(const Share& share, std::int64_t sequence_ranks = 1, Scores scores = Scores::stored) const {
        const Model model = of_elements(2);
        Attention attention = stored(s, h, a);
        attention.scores = scores;
        return kept_bytes(model, layer_of(attention), share, sequence_ranks) +
               kept_bytes(model, layer_of(FeedForward{s, h, 4 * h}), share, sequence_ranks);
    }
    double sh() const { return static_cast<double>(s * h); }
    double scores() const { return 5 * static_cast<double>(a * s) / static_cast<double>(h); }
};

constexpr Transformer gpt3{2048, 12288, 96}, mt_nlg{2048, 20480, 128};

}  // namespace

TEST_CASE("a transformer's layer keeps the bytes of Korthikanti et al., on any number of tensor and sequence ranks",
          "[memory]") {
    for (const Transformer& layer : {gpt3, mt_nlg, Transformer{512, 1024, 16}, Transformer{7, 48, 48}}) {
        for (const double b : {1.0, 3.0}) {
            for (const std::int64_t t : {1, 2, 8, 16}) {
                const auto ranks = static_cast<double>(t);
                CAPTURE(layer.s, layer.h, layer.a, b, t);
                CHECK(layer.kept({.samples = b, .fraction = 1 / ranks}) ==
                      Approx(layer.sh() * b * (10 + 24 / ranks + layer.scores() / ranks)).epsilon(1e-12));
                CHECK(layer.kept({.samples = b, .fraction = 1 / ranks}, t) ==
                      Approx(layer.sh() * b / ranks * (34 + layer.scores())).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE("without stored scores a layer keeps 34 bytes per element, as with selective recomputation", "[memory]") {
    // Korthikanti et al., section 5: 5as/h is saved, and 10 + 24/t remains, or 34/t with sequence parallelism. Flash
    // attention saves the same part.
    for (const Transformer& layer : {gpt3, mt_nlg, Transformer{7, 48, 48}})
        for (const std::int64_t t : {1, 2, 8}) {
            const auto ranks = static_cast<double>(t);
            const Share share{.samples = 3, .fraction = 1 / ranks};
            CHECK(layer.kept(share, 1, Scores::flash) == Approx(3 * layer.sh() * (10 + 24 / ranks)).epsilon(1e-12));
            CHECK(layer.kept(share, t, Scores::flash) == Approx(3 * layer.sh() * 34 / ranks).epsilon(1e-12));
        }
}

TEST_CASE("the models of Korthikanti et al. keep their published GiB on 8 tensor ranks", "[memory]") {
    // Table 5's configurations, of the 22B 4 samples on one stage, of the 175B one sample on the first of 8 interleaved
    // stages, which holds 1 + 7/24 of all layers (equation 5); without recomputation, and with sequence parallelism and
    // selective recomputation, which keeps what flash attention keeps. Without embedding and head.
    const auto gib = [](const std::string& name, double samples, double held, Scores scores, std::int64_t ranks) {
        const Model model = test::shipped_model(name);
        double bytes = 0;
        for (Layer layer : model.layers) {
            if (auto* attention = std::get_if<Attention>(&layer.shape)) attention->scores = scores;
            if (layer.name.rfind("layer", 0) == 0)
                bytes += kept_bytes(model, layer, {.samples = samples, .fraction = 1.0 / 8}, ranks);
        }
        return bytes * held / (1 << 30);
    };
    const double held = 1 + 7.0 / 24;
    CHECK(std::abs(gib("megatron-22b", 4, 1, Scores::stored, 1) - 59.25) < 0.005);
    CHECK(std::abs(gib("megatron-22b", 4, 1, Scores::flash, 8) - 9.56) < 0.005);
    CHECK(std::abs(gib("gpt-3-175b", 1, held, Scores::stored, 1) - 66.84) < 0.005);
    CHECK(std::abs(gib("gpt-3-175b", 1, held, Scores::flash, 8) - 12.35) < 0.005);
}

TEST_CASE("today's layers keep what their matrices and products read", "[memory]") {
    const Model model = of_elements(2);
    // 7 tokens of width 12 with 6 heads of 3 in 2 groups: queries and sums of 18, keys and values of 6 elements.
    Attention grouped{.positions = 7, .width = 12, .heads = 6, .kv_heads = 2, .head_size = 3, .dropout = false};
    CHECK(kept_bytes(model, layer_of(grouped), {}) == 7 * 2 * (2 * 12 + 2 * 18 + 2 * 6));
    // A third of the heads comes with one of the two heads of keys and values.
    CHECK(kept_bytes(model, layer_of(grouped), {.fraction = 1.0 / 3}) ==
          Approx(7 * 2 * (2 * 12 + 2 * 18 / 3 + 2 * 3)).epsilon(1e-12));
    // Scores of a window of 4, and only the softmax's result without dropout.
    grouped.window = 4;
    const double without = kept_bytes(model, layer_of(grouped), {});
    grouped.scores = Scores::stored;
    CHECK(kept_bytes(model, layer_of(grouped), {}) - without == 6 * 7 * 4 * 2);
    grouped.dropout = true;
    CHECK(kept_bytes(model, layer_of(grouped), {}) - without == 6 * 7 * 4 * 5 + 7 * 12);
    // Keys and values of 9 other tokens.
    const Attention cross{.positions = 7, .width = 12, .heads = 3, .context = 9};
    CHECK(kept_bytes(model, layer_of(cross), {}) == 7 * 12 * 5 + (2 * 7 + 2 * 9) * 12 * 2);
    // Latent vectors of 5 and 4 (and 2 rotated) elements, before and after normalisation; heads of 3 + 2.
    const Attention latent{.positions = 7,
                           .width = 12,
                           .heads = 6,
                           .head_size = 3,
                           .query_rank = 5,
                           .kv_rank = 4,
                           .rotary_size = 2,
                           .dropout = false};
    CHECK(kept_bytes(model, layer_of(latent), {}) ==
          7 * 2 * (2 * 12 + 2 * 5 + 2 * 4 + 2 + 2 * 6 * (3 + 2) + 2 * 6 * 3));
    const FeedForward gated{.positions = 7, .width = 12, .hidden = 20, .gated = true, .dropout = false};
    CHECK(kept_bytes(model, layer_of(gated), {.fraction = 0.25}) == 7 * 2 * (2 * 12 + 3 * 5));
    CHECK(kept_bytes(model, layer_of(Embedding{.vocabulary = 9, .positions = 7, .width = 12, .dropout = false}), {}) ==
          0);
}

TEST_CASE("a parallel block keeps its input once", "[memory]") {
    const Model model = of_elements(2);
    const Attention attention{.positions = 7, .width = 12, .heads = 3};
    FeedForward forward{.positions = 7, .width = 12, .hidden = 20};
    const double apart = kept_bytes(model, layer_of(attention), {}) + kept_bytes(model, layer_of(forward), {});
    CHECK(kept_bytes(model, layer_of(ParallelBlock{attention, forward}), {}) == apart - 7 * 12 * 2);
    forward.norm = Norm::none;  // the attention's serves both
    CHECK(kept_bytes(model, layer_of(ParallelBlock{attention, forward}), {}) == apart - 2 * 7 * 12 * 2);
}

TEST_CASE("experts keep inputs, hidden units and outputs of each token's choices, and the router's probabilities",
          "[memory]") {
    const Model model = of_elements(2);
    Experts shape{.positions = 7, .width = 12, .hidden = 20, .experts = 8, .top_k = 2, .gated = true};
    CHECK(kept_bytes(model, layer_of(shape), {}) == 7 * (2 * 2 * 12 + 8 * 4 + 2 * 2 * 12 * 2 + 2 * 3 * 20 * 2));
    CHECK(kept_bytes(model, layer_of(shape), {.fraction = 0.5}) ==
          7 * (2 * 2 * 12 + 8 * 4 + 2 * 2 * 12 * 2 + 2 * 3 * 20));
    CHECK(kept_bytes(model, layer_of(shape), {.fraction = 0.5}, 2) ==
          7 * (2 * 2 * 12 + 8 * 4 + 2 * 2 * 12 * 2) / 2.0 + 7 * 2 * 3 * 20);
    // Whole experts with half of the tokens have as many hidden units.
    CHECK(kept_bytes(model, layer_of(shape), {.fraction = 0.5, .routed = RoutedShare{1, 0.5}}, 2) ==
          kept_bytes(model, layer_of(shape), {.fraction = 0.5}, 2));
    CHECK(kept_bytes(model, layer_of(shape), {.fraction = 0.25, .routed = RoutedShare{1, 0.5}}, 4) ==
          7 * (2 * 2 * 12 + 8 * 4 + 2 * 2 * 12 * 2) / 4.0 + 7 * 2 * 3 * 20);
    shape.capacity = 1.5;
    CHECK(kept_bytes(model, layer_of(shape), {}) == 7 * (2 * 2 * 12 + 8 * 4 + 3 * 2 * 12 * 2 + 3 * 3 * 20 * 2));
    shape.capacity = 0;
    shape.shared = 2, shape.shared_hidden = 5;
    CHECK(kept_bytes(model, layer_of(shape), {}) ==
          7 * (2 * 2 * 12 + 8 * 4 + 2 * 2 * 12 * 2 + (2 * 20 + 2 * 5) * 3 * 2));
}

TEST_CASE("attention scores take the published 70 % and 65 % of the memory that GPT-3's and MT-NLG's layers keep",
          "[memory]") {
    for (const auto& [layer, published] : {std::pair{gpt3, 0.70}, std::pair{mt_nlg, 0.65}}) {
        const double saved = 1 - layer.kept({}, 1, Scores::flash) / layer.kept({});
        CHECK(std::abs(saved - published) < 0.005);
    }
}

TEST_CASE("kept bytes scale with the element size, except for masks", "[memory]") {
    const auto kept = [](double element) {
        return kept_bytes(of_elements(element), layer_of(stored(10, 6, 3)), {}) +
               kept_bytes(of_elements(element), layer_of(FeedForward{10, 6, 20}), {});
    };
    const double masks = 2 * 10 * 6 + 3 * 10 * 10;
    CHECK(kept(4) - masks == 2 * (kept(2) - masks));
}

TEST_CASE("a convolution keeps all of its inputs, and before a normalisation also its own outputs", "[memory]") {
    const Convolution plain{.channels = 3, .height = 8, .width = 8, .filters = 16, .kernel = {3, 3}, .padding = {1, 1}};
    Convolution normalised = plain;
    normalised.batch_norm = true;
    const Model model = of_elements(4);
    const Layer conv = convolution("conv", plain), norm = convolution("norm", normalised);
    CHECK(kept_bytes(model, conv, {.samples = 5}) == 5 * 3 * 64 * 4);
    CHECK(kept_bytes(model, norm, {.samples = 5}) == 5 * (3 + 16) * 64 * 4);
    CHECK(kept_bytes(model, conv, {.samples = 5, .fraction = 0.25}) == 5 * 3 * 64 * 4);
    CHECK(kept_bytes(model, norm, {.samples = 5, .fraction = 0.25}) == 5 * (3 + 4) * 64 * 4);
    CHECK(kept_bytes(model, norm, {.samples = 5, .fraction = 0.25, .area = 0.5}) == 5 * (3 + 4) * 32 * 4);
    CHECK(kept_bytes(model, norm, {.samples = 0}) == 0);
}

TEST_CASE("dense and custom layers keep their inputs, of which ranks divide positions but not an image", "[memory]") {
    const Model model = of_elements(2);
    const Share quarter{.samples = 3, .fraction = 0.25};
    CHECK(kept_bytes(model, dense("fc", 100, 40, true), quarter) == 3 * 100 * 2);
    CHECK(kept_bytes(model, dense("fc", 100, 40, true), quarter, 4) == 3 * 100 * 2);
    CHECK(kept_bytes(model, layer_of(Custom{}, 70, 20), quarter, 4) == 3 * 70 * 2);
    const Layer tokens = layer_of(Dense{.inputs = 100, .outputs = 40, .positions = 8}, 8 * 100, 8 * 40);
    CHECK(kept_bytes(model, tokens, quarter) == 3 * 8 * 100 * 2);
    CHECK(kept_bytes(model, tokens, quarter, 4) == 3 * 8 * 100 * 2 / 4);
}

TEST_CASE("at the vocabulary the dropout's mask after the embedding and the inputs and logits of the head are kept",
          "[memory]") {
    // Korthikanti et al., section 4.3: sbh; 2sbh of the output layer, and 4sbv in 32 bits for the loss.
    constexpr std::int64_t s = 16, h = 12, v = 40;
    const Model model = of_elements(2);
    const Layer embedding = layer_of(Embedding{v, s, h}, s, s * h);
    const Layer head = layer_of(Dense{.inputs = h, .outputs = v, .positions = s, .gathered = false}, s * h, s * v);
    const Share half{.samples = 1, .fraction = 0.5};
    CHECK(kept_bytes(model, embedding, half) == s * h);
    CHECK(kept_bytes(model, embedding, half, 2) == s * h / 2);
    CHECK(kept_bytes(model, head, half) == 2 * s * h + 4 * s * v / 2);
    CHECK(kept_bytes(model, head, half, 2) == s * h + 4 * s * v / 2);
}

TEST_CASE("kept: gathered inputs, and the activation of a gate, where a framework keeps them", "[memory]") {
    const Model model = of_elements(2);
    const Saved gathered{.gathered = true}, gate{.gate = true};
    const Attention attention{.positions = 7, .width = 12, .heads = 6, .dropout = false};
    const FeedForward forward{.positions = 7, .width = 12, .hidden = 20, .gated = true, .dropout = false};
    const Layer head = dense("head", {.inputs = 12, .outputs = 30, .positions = 7, .gathered = false});
    for (const Layer& layer : {layer_of(attention), layer_of(forward), head}) {
        for (const std::int64_t rows : {1, 2, 4}) {
            const Share share{.samples = 3, .fraction = 1.0 / static_cast<double>(rows)};
            // The inputs of one matrix: those of the normalisation remain divided.
            const double inputs = 3 * 7 * 12 * 2;
            const double more = inputs - inputs / static_cast<double>(rows);
            CHECK(kept_bytes(model, layer, share, rows, gathered) ==
                  Approx(kept_bytes(model, layer, share, rows) + more).epsilon(1e-12));
        }
    }
    CHECK(kept_bytes(model, layer_of(forward), {}, 1, gate) == kept_bytes(model, layer_of(forward), {}) + 7 * 20 * 2);
    CHECK(kept_bytes(model, layer_of(attention), {}, 1, gate) == kept_bytes(model, layer_of(attention), {}));
    // A parallel block has one input for both halves, unless each has a normalisation of its own.
    FeedForward second = forward;
    for (const Norm norm : {Norm::none, Norm::layer}) {
        second.norm = norm;
        const Layer block = layer_of(ParallelBlock{attention, second});
        const double more = (norm == Norm::none ? 1 : 2) * 7 * 12 * 2 * 0.75;
        CHECK(kept_bytes(model, block, {.fraction = 0.25}, 4, gathered) ==
              Approx(kept_bytes(model, block, {.fraction = 0.25}, 4) + more).epsilon(1e-12));
    }
    CHECK(loss_bytes(model, head, {.samples = 2, .fraction = 0.5}) == 2 * 7 * 30 * 2 / 2);
    CHECK(loss_bytes(model, head, {.fraction = 0.5}, {.logit_bytes = 4}) == 0);
    CHECK(loss_bytes(model, head, {}, {.logit_bytes = 14}) == 10 * 7 * 30);
    CHECK(loss_bytes(model, layer_of(attention), {}) == 0);
}

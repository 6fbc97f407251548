#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Transformers: compares their counts with published totals and formulas, and checks their keys in files.

using namespace syncline;
using test::read_model, test::shipped_model;

namespace {

/// Returns a workload of these layers, of 10 tokens by default.
Model written(const std::string& layers, const std::string& sample = "sequence: 10\n") {
    config::Library library;
    return read_model(library.parse("test.yaml", "name: test\n" + sample + "layers:\n" + layers, "."));
}

std::string refusal(const std::string& layers, const std::string& sample = "sequence: 10\n") {
    try {
        written(layers, sample);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

void check_same(const Layer& layer, const Layer& other) {
    CHECK(layer.name == other.name);
    CHECK(layer.parameters == other.parameters);
    CHECK(layer.macs == other.macs);
    CHECK(layer.inputs == other.inputs);
    CHECK(layer.activations == other.activations);
    CHECK(layer.shape.index() == other.shape.index());
}

/// Returns a GPT of `layers` layers, as counted by D. Narayanan et al., with hidden = 4h and the last normalisation.
Model gpt(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t positions,
          std::int64_t vocabulary) {
    Model model;
    model.layers.push_back(embedding("embedding", {vocabulary, positions, width}));
    for (std::int64_t i = 0; i < layers; ++i) {
        model.layers.push_back(attention("attention", {positions, width, heads}));
        model.layers.push_back(feed_forward("feed-forward", {positions, width, 4 * width}));
    }
    model.layers.push_back(dense("head", {.inputs = width,
                                          .outputs = vocabulary,
                                          .positions = positions,
                                          .gathered = false,
                                          .tied = true,
                                          .norm = Norm::layer}));
    return model;
}

}  // namespace

TEST_CASE("shipped transformers have the published parameters", "[memory]") {
    struct Published {
        std::string name;
        std::size_t layers;
        std::int64_t parameters, positions;
        double element_bytes;
        std::string last_half;
    };
    // - gpt-2, gpt-2-xl: GPT2LMHeadModel of Hugging Face; the latter also in Keras' presets
    // - bert-large: BertForPreTraining of Hugging Face
    // - gpt-3-175b: D. Narayanan et al., SC 2021, 174.6 billion, see below
    const Published all[] = {
        {"gpt-2", 26, 124'439'808, 1024, 2, "layer12.feed-forward"},
        {"gpt-2-xl", 98, 1'557'611'200, 1024, 2, "layer48.feed-forward"},
        {"gpt-3-175b", 194, 174'615'846'912, 2048, 2, "layer96.feed-forward"},
        {"bert-large", 53, 336'226'108, 512, 4, "layer24.feed-forward"},
    };
    for (const Published& published : all) {
        INFO(published.name);
        const Model model = shipped_model(published.name);
        CHECK(model.name == published.name);
        REQUIRE(model.layers.size() == published.layers);
        CHECK(model.parameters() == published.parameters);
        CHECK(model.sample_elements == published.positions);
        CHECK(model.element_bytes == published.element_bytes);
        CHECK(model.layers[1].name == "layer1.attention");
        CHECK(model.layers[2].name == "layer1.feed-forward");
        std::size_t last = 0;
        for (std::size_t i = 0; i < model.layers.size(); ++i)
            if (model.layers[i].name.rfind("layer", 0) == 0) last = i;
        CHECK(model.layers[last].name == published.last_half);
    }
}

TEST_CASE("BERT-large up to its pooler is the published encoder", "[memory]") {
    // BertModel of Hugging Face, bert-large-uncased.
    std::int64_t parameters = 0;
    for (const Layer& layer : shipped_model("bert-large").layers) {
        parameters += layer.parameters;
        if (layer.name == "pooler") break;
    }
    CHECK(parameters == 335'141'888);
}

TEST_CASE("the operations of BERT-large are those of its layers and heads", "[memory]") {
    const std::int64_t l = 24, s = 512, h = 1024, V = 30522;
    const std::int64_t pooler = h * h, next_sentence = 2 * h, transform = s * h * h, decoder = s * h * V;
    CHECK(shipped_model("bert-large").macs() ==
          l * (12 * s * h * h + 2 * s * s * h) + pooler + next_sentence + transform + decoder);
}

TEST_CASE("parameters equal those of Megatron-LM's scaling study", "[memory]") {
    // D. Narayanan et al., SC 2021: table 1, and 174.6 billion of table 2; vocabulary 51200, sequence 2048.
    struct Row {
        std::int64_t width, heads, layers;
        double billions;
    };
    const Row rows[] = {
        {2304, 24, 24, 1.7},     {3072, 32, 30, 3.6},      {4096, 32, 36, 7.5},       {6144, 48, 40, 18.4},
        {8192, 64, 48, 39.1},    {10240, 80, 60, 76.1},    {12288, 96, 80, 145.6},    {12288, 96, 96, 174.6},
        {16384, 128, 96, 310.1}, {20480, 128, 105, 529.6}, {25600, 160, 128, 1008.0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.billions);
        const Model model = gpt(row.layers, row.width, row.heads, 2048, 51200);
        CHECK(std::abs(static_cast<double>(model.parameters()) / 1e9 - row.billions) <= 0.05);
    }
}

TEST_CASE("parameters and operations of a GPT equal Megatron-LM's formulas", "[memory]") {
    // P = 12lh²(1 + 13/(12h) + (V+s)/(12lh)), and 2h; F = 72bslh²(1 + s/(6h) + V/(12lh)), multiplied out.
    for (const std::int64_t l : {1, 2, 7, 24})
        for (const std::int64_t h : {1, 3, 64, 1025})
            for (const std::int64_t s : {1, 17, 512})
                for (const std::int64_t V : {1, 1000, 50257}) {
                    CAPTURE(l, h, s, V);
                    const Model model = gpt(l, h, 1, s, V);
                    CHECK(model.parameters() == 12 * l * h * h + 13 * l * h + (V + s) * h + 2 * h);
                    CHECK(2 * 3 * model.macs() == 72 * s * l * h * h + 12 * l * s * s * h + 6 * s * h * V);
                }
}

TEST_CASE("the operations of GPT-3 equal Megatron-LM's, with the forward pass computed twice", "[memory]") {
    // D. Narayanan et al., SC 2021, equation 3: 96Bslh²(1 + s/(6h) + V/(16lh)): the layers' forward pass once more, not
    // the head's.
    const Model model = shipped_model("gpt-3-175b");
    const double B = 1536, s = 2048, l = 96, h = 12288, V = 51200;
    double macs = 0;
    for (const Layer& layer : model.layers) macs += static_cast<double>(layer.macs) * (layer.name == "head" ? 3 : 4);
    CHECK(2 * B * macs == Approx(96 * B * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h))).epsilon(1e-14));
}

TEST_CASE("the halves of a layer have the counts of their matrices", "[memory]") {
    for (const std::int64_t heads : {1, 2, 3, 16})
        for (const std::int64_t head_width : {1, 5, 64})
            for (const std::int64_t s : {1, 10, 333}) {
                const std::int64_t h = heads * head_width;
                CAPTURE(heads, h, s);
                const Layer whole = attention("a", {s, h, heads});
                const Layer matrix = dense("q", {.inputs = h, .outputs = h, .positions = s, .bias = true});
                const Layer first =
                    dense("q", {.inputs = h, .outputs = h, .positions = s, .bias = true, .norm = Norm::layer});
                CHECK(whole.parameters == first.parameters + 3 * matrix.parameters);
                // In each head, for each pair of tokens: a product of query and key, and a weighted value.
                CHECK(whole.macs == 4 * matrix.macs + heads * s * s * 2 * head_width);
                CHECK(whole.inputs == first.inputs);
                CHECK(whole.activations == matrix.activations);

                const std::int64_t hidden = 3 * h + 1;
                const Layer up =
                    dense("up", {.inputs = h, .outputs = hidden, .positions = s, .bias = true, .norm = Norm::layer});
                const Layer down = dense("down", {.inputs = hidden, .outputs = h, .positions = s, .bias = true});
                const Layer both = feed_forward("f", {s, h, hidden});
                CHECK(both.parameters == up.parameters + down.parameters);
                CHECK(both.macs == up.macs + down.macs);
                CHECK(both.inputs == up.inputs);
                CHECK(both.activations == down.activations);
            }
}

TEST_CASE("an embedding has the expected counts", "[memory]") {
    Embedding shape{.vocabulary = 101, .positions = 7, .width = 6};
    CHECK(embedding("e", shape).parameters == (101 + 7) * 6);
    CHECK(embedding("e", shape).macs == 0);
    CHECK(embedding("e", shape).inputs == 7);
    CHECK(embedding("e", shape).activations == 7 * 6);
    shape.learned_positions = false;
    CHECK(embedding("e", shape).parameters == 101 * 6);
    shape.segments = 2;
    CHECK(embedding("e", shape).parameters == (101 + 2) * 6);
    shape.norm = Norm::layer;
    CHECK(embedding("e", shape).parameters == (101 + 2 + 2) * 6);
    CHECK(embedding("e", shape).activations == 7 * 6);
}

TEST_CASE("a dense layer at several positions has the weights of one, and a tied one has none", "[memory]") {
    Dense shape{.inputs = 6, .outputs = 11, .bias = true};
    const Layer one = dense("d", shape);
    shape.positions = 7;
    const Layer many = dense("d", shape);
    CHECK(many.parameters == one.parameters);
    CHECK(many.macs == 7 * one.macs);
    CHECK(many.inputs == 7 * 6);
    CHECK(many.activations == 7 * 11);
    shape.tied = true;
    const Layer tied = dense("d", shape);
    CHECK(tied.parameters == 11);  // it has its own bias
    CHECK(tied.macs == many.macs);
    shape.norm = Norm::layer;
    CHECK(dense("d", shape).parameters == 11 + 2 * 6);
    shape.bias = false;
    CHECK(dense("d", shape).parameters == 2 * 6);
}

TEST_CASE("a transformer's entry means its layers, both halves of each", "[memory]") {
    const Model whole = written("  - {name: t, kind: transformer, repeat: 3, width: 12, heads: 4, hidden: 20}\n");
    std::string halves;
    for (const char* number : {"1", "2", "3"}) {
        halves += std::string("  - {name: t") + number + ".attention, kind: attention, width: 12, heads: 4}\n";
        halves += std::string("  - {name: t") + number + ".feed-forward, kind: feed-forward, width: 12, hidden: 20}\n";
    }
    const Model apart = written(halves);
    REQUIRE(whole.layers.size() == 6);
    REQUIRE(apart.layers.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) check_same(whole.layers[i], apart.layers[i]);
    check_same(whole.layers[0], attention("t1.attention", {10, 12, 4}));
    check_same(whole.layers[5], feed_forward("t3.feed-forward", {10, 12, 20}));
    CHECK(written("  - {name: t, kind: transformer, width: 12, heads: 4, hidden: 20}\n").layers.size() == 2);
}

TEST_CASE("keys of a file reach the layers' shapes", "[memory]") {
    const Model model = written(
        "  - {name: e, kind: embedding, vocabulary: 50, width: 12, learned_positions: false, segments: 3, norm: "
        "layer}\n"
        "  - {name: a, kind: attention, positions: 4, width: 12, heads: 3}\n"
        "  - {name: f, kind: feed-forward, width: 12, hidden: 5}\n"
        "  - {name: p, kind: dense, positions: 1, inputs: 12, outputs: 2}\n"
        "  - {name: h, kind: dense, inputs: 12, outputs: 50, tied: true, gathered: false, norm: layer}\n");
    CHECK(model.sample_elements == 10);
    const auto& table = std::get<Embedding>(model.layers[0].shape);
    CHECK(table.vocabulary == 50);
    CHECK(table.width == 12);
    CHECK(table.positions == 10);
    CHECK_FALSE(table.learned_positions);
    CHECK(table.segments == 3);
    CHECK(table.norm == Norm::layer);
    const auto& heads = std::get<Attention>(model.layers[1].shape);
    CHECK(heads.positions == 4);
    CHECK(heads.width == 12);
    CHECK(heads.heads == 3);
    const auto& forward = std::get<FeedForward>(model.layers[2].shape);
    CHECK(forward.positions == 10);
    CHECK(forward.width == 12);
    CHECK(forward.hidden == 5);
    const auto& pooler = std::get<Dense>(model.layers[3].shape);
    CHECK(pooler.positions == 1);
    CHECK(pooler.gathered);
    CHECK_FALSE(pooler.tied);
    CHECK(pooler.norm == Norm::none);
    const auto& head = std::get<Dense>(model.layers[4].shape);
    CHECK(head.positions == 10);
    CHECK_FALSE(head.gathered);
    CHECK(head.tied);
    CHECK(head.norm == Norm::layer);
}

TEST_CASE("without a sequence a dense layer has one position, and a transformer states its own", "[memory]") {
    const std::string image = "input: [3, 8, 8]\n";
    const Model model = written(
        "  - {name: a, kind: attention, positions: 4, width: 12, heads: 3}\n"
        "  - {name: d, kind: dense, inputs: 12, outputs: 2}\n",
        image);
    CHECK(model.sample_elements == 3 * 8 * 8);
    CHECK(std::get<Attention>(model.layers[0].shape).positions == 4);
    CHECK(std::get<Dense>(model.layers[1].shape).positions == 1);
    CHECK(contains(refusal("  - {name: a, kind: attention, width: 12, heads: 3}\n", image),
                   "an attention layer needs 'positions'"));
    CHECK(contains(refusal("  - {name: t, kind: transformer, width: 12, heads: 3, hidden: 9}\n", image),
                   "a transformer layer needs 'positions'"));
    CHECK(contains(refusal("  - {name: e, kind: embedding, vocabulary: 5, width: 12}\n", image),
                   "an embedding layer needs 'positions'"));
    CHECK(contains(refusal("  - {name: f, kind: feed-forward, width: 12, hidden: 9}\n", image),
                   "a feed-forward layer needs 'positions'"));
}

TEST_CASE("invalid transformers are refused", "[memory]") {
    CHECK(contains(refusal("  - {name: a, kind: attention, width: 12, heads: 5}\n"),
                   "a width of 12 does not divide into 5 heads"));
    CHECK(contains(refusal("  - {name: t, kind: transformer, width: 12, heads: 24, hidden: 9}\n"),
                   "a width of 12 does not divide into 24 heads"));
    CHECK(contains(refusal("  - {name: a, kind: attention, width: 12}\n"), "an attention layer needs 'heads'"));
    CHECK(contains(refusal("  - {name: f, kind: feed-forward, width: 12}\n"), "a feed-forward layer needs 'hidden'"));
    CHECK(contains(refusal("  - {name: e, kind: embedding, width: 12}\n"), "an embedding layer needs 'vocabulary'"));
    CHECK(contains(refusal("  - {name: f, kind: feed-forward, width: 12, hidden: 9, heads: 3}\n"),
                   "a feed-forward layer has no 'heads'"));
    CHECK(contains(refusal("  - {name: a, kind: attention, width: 12, heads: 3, repeat: 2}\n"),
                   "an attention layer has no 'repeat'"));
    for (const char* repeat : {"0", "-1", "10001", "1.5", "many"}) {
        CAPTURE(repeat);
        CHECK(contains(refusal("  - {name: t, kind: transformer, width: 12, heads: 3, hidden: 9, repeat: " +
                               std::string(repeat) + "}\n"),
                       "'repeat'"));
    }
    CHECK(contains(refusal("  - {name: t, kind: transformer, repeat: 2, width: 12, heads: 3, hidden: 9}\n"
                           "  - {name: t2.feed-forward, kind: dense, inputs: 1, outputs: 1}\n"),
                   "duplicate layer name 't2.feed-forward'"));
    CHECK(contains(refusal("  - {name: d, kind: dense, inputs: 1, outputs: 1}\n", ""), "input"));
    CHECK(contains(refusal("  - {name: d, kind: dense, inputs: 1, outputs: 1}\n", "sequence: 3\ninput: [1, 1, 3]\n"),
                   "an image or a sequence, not both"));
    CHECK(contains(refusal("  - {name: d, kind: dense, inputs: 1, outputs: 1}\n", "sequence: 0\n"), "sequence"));
}

TEST_CASE("an error is reported once, though several kinds have the key", "[memory]") {
    const std::string text = refusal("  - {name: d, kind: custom, parameters: 1, macs: 1, positions: 3}\n");
    const std::string part = "a custom layer has no 'positions'";
    REQUIRE(contains(text, part));
    CHECK(text.find(part) == text.rfind(part));
}

TEST_CASE("a tied layer needs the table that it shares", "[memory]") {
    const std::string table = "  - {name: e, kind: embedding, vocabulary: 50, width: 12}\n";
    const std::string head = "  - {name: h, kind: dense, inputs: 12, outputs: 50, tied: true}\n";
    CHECK(refusal(table + head) == "");
    CHECK(contains(refusal(head), "no embedding above has a table of 50 × 12"));
    CHECK(contains(refusal(head + table), "no embedding above has a table of 50 × 12"));
    CHECK(contains(refusal(table + "  - {name: h, kind: dense, inputs: 50, outputs: 12, tied: true}\n"),
                   "no embedding above has a table of 12 × 50"));
    CHECK(contains(refusal(table + "  - {name: h, kind: dense, inputs: 11, outputs: 50, tied: true}\n"),
                   "no embedding above has a table of 50 × 11"));
}

TEST_CASE("absurd transformers are refused and do not overflow", "[memory]") {
    const std::string most = "16777216";
    CHECK(contains(refusal("  - {name: a, kind: attention, positions: " + most + ", width: " + most + ", heads: 1}\n"),
                   "multiply-accumulates are too many"));
    CHECK(contains(refusal("  - {name: f, kind: feed-forward, positions: " + most + ", width: " + most +
                           ", hidden: " + most + "}\n"),
                   "multiply-accumulates are too many"));
    CHECK(contains(
        refusal("  - {name: d, kind: dense, positions: " + most + ", inputs: " + most + ", outputs: " + most + "}\n"),
        "multiply-accumulates are too many"));
    CHECK(contains(refusal("  - {name: a, kind: attention, width: 16777217, heads: 1}\n"), "width"));
    // Each is possible, but not all together.
    CHECK(contains(refusal("  - {name: t, kind: transformer, repeat: 10000, width: 4194304, heads: 1, hidden: 1}\n"),
                   "too many"));
    std::string many;
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
        many +=
            std::string("  - {name: ") + name + ", kind: transformer, repeat: 10000, width: 1, heads: 1, hidden: 1}\n";
    CHECK(contains(refusal(many), "more than 100000 layers"));
}

TEST_CASE("the multiply-accumulates of long sequences are counted exactly", "[memory]") {
    // 64-bit integers end at 9.2e18, and doubles have gaps above 9e15.
    const std::string layer = "kind: transformer, gated: true, norm: rms, bias: false, rotary: true, dropout: false";
    const auto dense = [&](std::int64_t tokens) {
        return written(
            "  - {name: l, repeat: 36, width: 4096, heads: 32, head_size: 128, kv_heads: 8, hidden: 12288, " + layer +
                "}\n  - {name: h, kind: dense, inputs: 4096, outputs: 151936, norm: rms}\n",
            "sequence: " + std::to_string(tokens) + "\n");
    };
    // Per token: four matrices, three of the gated half, and twice the tokens for the scores.
    const auto expected = [](std::int64_t tokens) {
        const std::int64_t weights = 4096 * (4096 + 2 * 1024) + 4096 * 4096 + 3 * 4096 * 12288;
        return tokens * (36 * (weights + 2 * tokens * 4096) + 4096 * 151936);
    };
    constexpr std::int64_t mi = 1 << 20;
    CHECK(dense(mi).macs() == expected(mi));
    CHECK(dense(mi).macs() == 332'194'898'344'148'992);
    CHECK(dense(4 * mi).macs() == expected(4 * mi));
    CHECK(dense(mi + 1).macs() == expected(mi + 1));
    CHECK(contains(
        refusal("  - {name: l, repeat: 36, width: 4096, heads: 32, hidden: 1, " + layer + "}\n", "sequence: 6291456\n"),
        "hint: the maximum is 9e+18"));

    const Model llama =
        written("  - {name: l, repeat: 126, width: 16384, heads: 128, kv_heads: 8, hidden: 53248, " + layer + "}\n",
                "sequence: 131072\n");
    const std::int64_t weights = 2 * 16384 * 16384 + 2 * 16384 * 1024 + 3 * 16384 * std::int64_t{53248};
    CHECK(llama.macs() == 131072 * 126 * (weights + 2 * 131072 * std::int64_t{16384}));
}

TEST_CASE("layers of several parts are refused where their sum would overflow", "[memory]") {
    // 2·s²·h of the scores and 2·s·h·f of the other half are 2^62 each, and together with 4·s·h² more than 2^63.
    const std::string sample = "sequence: 16777216\n";
    const std::string block = "kind: transformer, width: 8192, heads: 1, hidden: 16777216";
    CHECK(contains(refusal("  - {name: b, " + block + "}\n", sample), "9.23e+18 multiply-accumulates are too many"));
    CHECK(contains(refusal("  - {name: b, parallel: one-norm, " + block + "}\n", sample),
                   "9.23e+18 multiply-accumulates are too many"));
    // Three times 2·s·h·f with s = f = 2^23: one expert that acts on a token, and two that are shared.
    const std::string experts = "kind: moe, width: 32768, hidden: 8388608, experts: 8, top_k: ";
    CHECK(refusal("  - {name: e, " + experts + "1}\n", "sequence: 8388608\n") == "");
    CHECK(contains(refusal("  - {name: e, " + experts + "1, shared_experts: 2}\n", "sequence: 8388608\n"),
                   "1.38e+19 multiply-accumulates are too many"));
}

TEST_CASE("transformers are split inside, and a head by its words", "[memory]") {
    const Model model = shipped_model("gpt-2-xl");
    CHECK(split_of(model.layers.front()) == Split::inside);
    CHECK(parts_of(model.layers.front()) == 50257);
    CHECK(split_of(model.layers[1]) == Split::inside);
    CHECK(parts_of(model.layers[1]) == 25);
    CHECK(split_of(model.layers[2]) == Split::inside);
    CHECK(parts_of(model.layers[2]) == 6400);
    CHECK(split_of(model.layers.back()) == Split::outputs);
    CHECK(parts_of(model.layers.back()) == 50257);
}

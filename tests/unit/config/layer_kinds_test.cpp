#include <cstdint>
#include <string>

#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Keys of today's layers in files, and their counts. Mistakes are in tests/cases/layers.cases.

using namespace syncline;
using test::read_model;

namespace {

Model written(const std::string& layers, const std::string& head = "sequence: 10\n") {
    config::Library library;
    return read_model(library.parse("test.yaml", "name: test\n" + head + "layers:\n" + layers, "."));
}

std::string refusal(const std::string& layers, const std::string& head = "sequence: 10\n") {
    try {
        written(layers, head);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const std::string attention_keys = "  - {name: a, kind: attention, width: 12, heads: 6, ";
const std::string moe_keys = "  - {name: m, kind: moe, width: 12, hidden: 20, experts: 8, ";

}  // namespace

TEST_CASE("keys of attention change its counts as its matrices change", "[memory]") {
    // 10 tokens of width 12, 6 heads of 2: 4·12² weights, 4·12 biases, 2·12 of the normalisation.
    const auto parameters = [](const std::string& keys) { return written(attention_keys + keys + "}\n").parameters(); };
    const auto macs = [](const std::string& keys) { return written(attention_keys + keys + "}\n").macs(); };
    const std::int64_t weights = 4 * 144, scores = 2 * 100 * 12;
    CHECK(parameters("bias: true") == weights + 48 + 24);
    CHECK(macs("bias: true") == 10 * weights + scores);
    CHECK(parameters("bias: false") == weights + 24);
    CHECK(parameters("norm: rms") == weights + 48 + 12);
    CHECK(parameters("norm: none") == weights + 48);
    CHECK(parameters("norm: layer") == weights + 48 + 24);
    // Two heads of keys and values: 4 elements each.
    CHECK(parameters("kv_heads: 2, bias: false, norm: none") == 2 * 144 + 2 * 12 * 4);
    CHECK(parameters("kv_heads: 1, norm: none") == 2 * 144 + 2 * 12 * 2 + 12 + 4 + 12);
    CHECK(macs("kv_heads: 2") == 10 * (2 * 144 + 2 * 12 * 4) + scores);
    // Heads of 5: 30 elements of queries.
    CHECK(parameters("head_size: 5, bias: false, norm: none") == 4 * 12 * 30);
    CHECK(macs("head_size: 5") == 10 * 4 * 12 * 30 + 2 * 100 * 30);
    CHECK(macs("window: 3") == 10 * weights + 2 * 30 * 12);
    CHECK(macs("window: 11") == 10 * weights + scores);
    CHECK(macs("context: 7") == 10 * 2 * 144 + 7 * 2 * 144 + 2 * 70 * 12);
    CHECK(parameters("context: 7") == parameters("rotary: true"));
    CHECK(macs("rotary: true, dropout: false") == macs("bias: true"));
    // Latent vectors of 7 and 4 elements; heads of 2 and 3 rotated elements of queries and of one common key.
    CHECK(parameters("query_rank: 7, kv_rank: 4, rotary_size: 3, bias: false, norm: rms") ==
          12 * 7 + 7 + 7 * 6 * 5 + 12 * (4 + 3) + 4 + 4 * 6 * 4 + 6 * 2 * 12 + 12);
    CHECK(macs("query_rank: 7, kv_rank: 4, rotary_size: 3") ==
          10 * (12 * 7 + 7 * 6 * 5 + 12 * 7 + 4 * 6 * 4 + 144) + 100 * 6 * (5 + 2));
}

TEST_CASE("a gated feed-forward layer has three matrices", "[memory]") {
    const auto parameters = [](const std::string& keys) {
        return written("  - {name: f, kind: feed-forward, width: 12, hidden: 20" + keys + "}\n").parameters();
    };
    CHECK(parameters("") == 2 * 240 + 32 + 24);
    CHECK(parameters(", gated: true, bias: false, norm: rms") == 3 * 240 + 12);
    CHECK(parameters(", gated: true") == 3 * 240 + 52 + 24);
}

TEST_CASE("all attention layers of a workload have flash attention, or none", "[memory]") {
    const std::string layer = attention_keys + "window: 3}\n";
    CHECK(std::get<Attention>(written(layer).layers[0].shape).scores == Scores::flash);
    const Model stored = written(layer, "sequence: 10\nattention: stored\n");
    CHECK(std::get<Attention>(stored.layers[0].shape).scores == Scores::stored);
    CHECK(stored.macs() == written(layer).macs());
    CHECK(contains(refusal(layer, "sequence: 10\nattention: paged\n"), "attention"));
}

TEST_CASE("the halves of a parallel transformer layer are one layer with the counts of both", "[memory]") {
    const std::string keys = "  - {name: t, kind: transformer, repeat: 2, width: 12, heads: 6, hidden: 20";
    const Model apart = written(keys + "}\n"), two = written(keys + ", parallel: two-norms}\n");
    const Model one = written(keys + ", parallel: one-norm}\n");
    REQUIRE(two.layers.size() == 2);
    CHECK(two.layers[1].name == "t2.block");
    CHECK(two.parameters() == apart.parameters());
    CHECK(two.macs() == apart.macs());
    CHECK(one.parameters() == apart.parameters() - 2 * 24);
    CHECK(split_of(one.layers[0]) == Split::inside);
    CHECK(parts_of(one.layers[0]) == 6);
}

TEST_CASE("a layer of experts has the parameters of all, and the work of those that a token uses", "[memory]") {
    const std::int64_t expert = 3 * 12 * 20, router = 12 * 8;
    const Model plain = written(moe_keys + "top_k: 2, gated: true, norm: rms}\n");
    CHECK(plain.parameters() == router + 8 * expert + 12);
    CHECK(plain.active_parameters() == router + 2 * expert + 12);
    CHECK(plain.macs() == 10 * (router + 2 * expert));
    CHECK(split_of(plain.layers[0]) == Split::inside);
    CHECK(parts_of(plain.layers[0]) == 20);
    const Model shared = written(moe_keys + "top_k: 3, shared_experts: 2, shared_hidden: 5, bias: true}\n");
    const std::int64_t routed = 2 * 12 * 20 + 20 + 12, other = 2 * 12 * 5 + 5 + 12;
    CHECK(shared.parameters() == router + 8 * routed + 2 * other + 24);
    CHECK(shared.active_parameters() == router + 3 * routed + 2 * other + 24);
    CHECK(shared.macs() == 10 * (router + 3 * 2 * 12 * 20 + 2 * 2 * 12 * 5));
    // A shared expert is as large as the others unless it is said.
    CHECK(written(moe_keys + "top_k: 2, shared_experts: 1, gated: true, norm: rms}\n").parameters() ==
          plain.parameters() + expert);
    CHECK(written(moe_keys + "top_k: 2, gated: true, norm: rms, capacity: 1.25}\n").macs() == plain.macs());
    CHECK(std::get<Experts>(written(moe_keys + "top_k: 2, capacity: 1.25}\n").layers[0].shape).copies() == 2.5);
    const Model separate = written(moe_keys + "top_k: 2, fused_permutation: false}\n");
    CHECK_FALSE(std::get<Experts>(separate.layers[0].shape).fused_permutation);
    CHECK(std::get<Experts>(plain.layers[0].shape).fused_permutation);
}

TEST_CASE("one expert that every token uses is a feed-forward layer with a router", "[memory]") {
    for (const char* gated : {"true", "false"}) {
        const std::string keys = std::string(", width: 12, hidden: 20, bias: false, gated: ") + gated + "}\n";
        const Model experts = written("  - {name: m, kind: moe, experts: 1, top_k: 1" + keys);
        const Model forward = written("  - {name: f, kind: feed-forward" + keys);
        CHECK(experts.parameters() == forward.parameters() + 12);
        CHECK(experts.active_parameters() == experts.parameters());
        CHECK(experts.macs() == forward.macs() + 10 * 12);
    }
}

TEST_CASE("a block repeats its layers", "[memory]") {
    const Model model = written(
        "  - name: b\n    kind: block\n    repeat: 3\n    layers:\n"
        "      - {name: a, kind: attention, width: 12, heads: 6}\n"
        "      - {name: t, kind: transformer, repeat: 2, width: 12, heads: 6, hidden: 20}\n"
        "  - {name: d, kind: dense, inputs: 12, outputs: 2}\n");
    REQUIRE(model.layers.size() == 3 * 5 + 1);
    CHECK(model.layers[0].name == "b1.a");
    CHECK(model.layers[1].name == "b1.t1.attention");
    CHECK(model.layers[9].name == "b2.t2.feed-forward");
    CHECK(model.layers[10].name == "b3.a");
    for (std::size_t i = 5; i < 15; ++i) {
        CHECK(model.layers[i].parameters == model.layers[i - 5].parameters);
        CHECK(model.layers[i].macs == model.layers[i - 5].macs);
    }
    CHECK(written("  - {name: b, kind: block, layers: [{name: d, kind: dense, inputs: 1, outputs: 2}]}\n")
              .layers[0]
              .name == "b1.d");
}

TEST_CASE("a depthwise convolution has a filter for each channel", "[memory]") {
    const Model model =
        written("  - {name: c, kind: convolution, input: [32, 8, 8], filters: 32, kernel: 3, padding: 1, groups: 32}\n",
                "input: [32, 8, 8]\n");
    CHECK(model.parameters() == 32 * 9);
    CHECK(model.macs() == 32 * 9 * 64);
}

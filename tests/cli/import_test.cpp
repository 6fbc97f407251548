#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Foreign files in place of our own.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

constexpr const char* llama_3_70b = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "_name_or_path": "llama-3-70b", "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80,
  "num_attention_heads": 64, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
  "rope_theta": 500000.0, "tie_word_embeddings": false})";

json printed(const TempDir& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Outcome outcome = run_in(folder, arguments);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out);
}

}  // namespace

TEST_CASE("import: a shipped model and its config.json have the same layers and times") {
    const TempDir folder;
    folder.write("config.json", llama_3_70b);
    const auto layers = [&](const std::string& model) {
        return printed(folder, {"workload", model, "--device", "h100-sxm", "--batch", "1"});
    };
    CHECK(layers("config.json") == layers("llama-3-70b"));

    REQUIRE(run_in(folder, {"import", "config.json", "--out", "written.yaml"}).status == 0);
    CHECK(layers("written.yaml") == layers("llama-3-70b"));

    const auto iteration = [&](const std::string& model) {
        folder.write("scenario.yaml", "platform: dgx-h100\nworkload: " + model +
                                          "\ntraining: {ranks: 16, batch: 8, framework: megatron-core, iterations: 1, "
                                          "parallelism: {model: 8, pipeline: {stages: 2, micro_batch_size: 1}}}\n");
        return printed(folder, {"run", "scenario.yaml", "--allow-oom"});
    };
    CHECK(iteration("config.json")["results"] == iteration("llama-3-70b")["results"]);
}

TEST_CASE("import: a plan is found for a config.json as for the shipped model") {
    const TempDir folder;
    folder.write("config.json",
                 R"({"model_type": "gpt2", "_name_or_path": "gpt-2", "n_embd": 768, "n_layer": 12, "n_head": 12,
                                    "n_positions": 1024, "vocab_size": 50257})");
    const auto plan = [&](const std::string& model) {
        json found = printed(folder, {"plan", model, "--platform", "dgx-h100", "--ranks", "2", "--batch", "16"});
        return found["answers"];
    };
    CHECK(plan("config.json") == plan("gpt-2"));
}

TEST_CASE("import: a written scenario is correct, and the same files give the same bytes") {
    const TempDir folder;
    folder.write("config.json", llama_3_70b);
    folder.write("ds.json", R"({"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 2,
                                "bf16": {"enabled": true}, "zero_optimization": {"stage": 3}})");
    const std::vector<std::string> command{"import", "config.json",       "ds.json", "--set", "platform=dgx-h100",
                                           "--set",  "training.ranks=64", "--out"};
    for (const char* name : {"one.yaml", "two.yaml"}) {
        std::vector<std::string> words = command;
        words.emplace_back(name);
        const Outcome outcome = run_in(folder, words);
        CHECK(outcome.status == 0);
        CHECK_THAT(outcome.err, ContainsSubstring("ds.json:1:1: warning: the file does not say what is recomputed"));
    }
    CHECK(read_file(folder / "one.yaml") == read_file(folder / "two.yaml"));
    const Outcome checked = run_in(folder, {"check", "one.yaml"});
    CHECK(checked.status == 0);
    CHECK(checked.out == "one.yaml: a correct scenario\n");
}

TEST_CASE("import: hostile files are refused within a second", "[memory]") {
    const TempDir folder;
    const auto refused = [&](const std::string& name, const std::string& text, const std::string& because) {
        CAPTURE(name);
        folder.write(name, text);
        const Outcome outcome = run_in(folder, {"import", name});
        CHECK(outcome.status == 3);
        CHECK_THAT(outcome.err, ContainsSubstring(because));
        CHECK_THAT(outcome.err, ContainsSubstring(name + ":"));
        CHECK(outcome.seconds < 5 * patience);  // 0.3 s on an idle machine
        CHECK(static_cast<double>(outcome.peak_kib) < 200 * 1024 * patience);
    };
    std::string parts = "[job]\na";
    for (int i = 0; i < 200'000; ++i) parts += ".a";
    refused("deep.json", "{\"model_type\": " + std::string(100'000, '['), "this is nested too deeply");
    refused("deep.toml", "[job]\na = " + std::string(100'000, '['), "this is not TOML");
    refused("parts.toml", parts + " = 1\n", "too many parts");
    refused("layers.json",
            R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_positions": 1024, "vocab_size": 50257,
                               "n_layer": 1000000000})",
            "'n_layer' is 1000000000");
    refused("large.json", R"({"model_type": "llama", "hidden_size": 1048576, "intermediate_size": 1048576,
                              "num_hidden_layers": 10000, "num_attention_heads": 1024, "vocab_size": 1048576})",
            "too many");
    std::string types;
    for (int i = 0; i < 10'000; ++i) types += "\"x\",";
    refused(
        "types.json",
        R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 256, "num_attention_heads": 4, "vocab_size": 9,
                "num_hidden_layers": 10000, "layer_types": [)" +
            types + std::string(1'000'000, ' ') + "]}",
        "is no kind of layer");
    std::string options = "--micro-batch-size 1";
    for (int i = 0; i < 50'000; ++i) options += " --o" + std::to_string(i) + " 1";
    refused("options.sh", options, "too many options");
    std::string doubling = "--micro-batch-size 1\nA=aaaaaaaa\n";
    for (int i = 0; i < 10'000; ++i) doubling += "A=$A$A\n";
    refused("doubling.sh", doubling + "--tensor-model-parallel-size $A", "aaaaaaaa");
}

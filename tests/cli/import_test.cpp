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

TEST_CASE("import: keys beside a named platform change it, and files keep their names wherever the answer is") {
    const TempDir folder;
    std::filesystem::create_directories(folder / "deep");
    folder.write("config.json", llama_3_70b);
    folder.write("launch.sh",
                 "torchrun --nnodes 2 --nproc-per-node 8 x.py --tensor-model-parallel-size 8 "
                 "--micro-batch-size 1 --global-batch-size 8 --seq-length 4096\n");
    folder.write("mine.yaml",
                 "name: mine\nnodes: 4\ndevice: h100-sxm\nper_node: {devices: 8, links: {pattern: switch, "
                 "bandwidth: 450 GBps, latency: none}, nics: 8}\n"
                 "fabric: {topology: rails, rails: 8, bandwidth: 400 Gbps, latency: 1 us}\n");
    for (const char* platform : {"platform=dgx-h100", "platform=mine.yaml"}) {
        CAPTURE(platform);
        const Outcome both = run_in(folder, {"import", "config.json", "launch.sh", "--set", platform, "--set",
                                             "platform.nodes=2", "--out", "deep/changed.yaml"});
        CAPTURE(both.err);
        CHECK(both.status == 0);
        const Outcome named =
            run_in(folder, {"import", "config.json", "launch.sh", "--set", platform, "--out", "deep/named.yaml"});
        CAPTURE(named.err);
        CHECK(named.status == 0);
        for (const char* file : {"deep/changed.yaml", "deep/named.yaml"})
            CHECK(run_in(folder, {"check", file}).status == 0);
    }
    CHECK_THAT(read_file(folder / "deep/named.yaml"), ContainsSubstring("platform: ../mine.yaml"));
}

TEST_CASE("import: a node and a network become one cluster; what two plans say differently is noted") {
    const TempDir folder;
    folder.write("topo.txt", "GPU0 GPU1 NIC0 CPU Affinity\nGPU0 X NV18 PIX\nGPU1 NV18 X PIX\nNIC0 PIX PIX X\n");
    folder.write("net.topo",
                 "Nodes 4\nTiers 2\nPodsize 2\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n"
                 "Downlink_Latency_ns 500\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\n"
                 "Downlink_Latency_ns 500\n");
    for (const bool first : {true, false}) {
        const Outcome made = run_in(folder, {"import", first ? "topo.txt" : "net.topo", first ? "net.topo" : "topo.txt",
                                             "--set", "platform.device=h100-sxm"});
        CAPTURE(made.err);
        CHECK(made.status == 0);
        CHECK_THAT(made.out, ContainsSubstring("devices: 2") && ContainsSubstring("200 Gbps"));
    }
    folder.write("a.sh", "torchrun --nproc-per-node 8 x.py --micro-batch-size 1 --global-batch-size 8\n");
    folder.write("b.sh", "torchrun --nproc-per-node 8 x.py --micro-batch-size 1 --global-batch-size 16\n");
    const Outcome two =
        run_in(folder, {"import", "a.sh", "b.sh", "--set", "workload=llama-3-8b", "--set", "platform=dgx-h100"});
    CHECK(two.status == 0);
    CHECK_THAT(two.err, ContainsSubstring("'batch' is 16 here, and 8 in an earlier file"));
}

TEST_CASE("import: the file that is read is not replaced") {
    const TempDir folder;
    folder.write("config.json", llama_3_70b);
    const Outcome same = run_in(folder, {"import", "config.json", "--out", "./config.json"});
    CHECK(same.status == 2);
    CHECK_THAT(same.err, ContainsSubstring("this would replace the file that is read"));
    CHECK(read_file(folder / "config.json") == llama_3_70b);
}

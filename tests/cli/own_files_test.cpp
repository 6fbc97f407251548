#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// The way of a user from files that people have to a calibrated prediction: "With your own files" in README.md.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

/// One node of eight H100 on an NVSwitch, as `import` writes it from `nvidia-smi topo -m`.
constexpr const char* node = R"(name: node
nodes: 1
device: h100-sxm
per_node: {devices: 8, links: {pattern: switch, bandwidth: 450 GBps, latency: none}}
fabric: {topology: star, bandwidth: 400 Gbps, latency: 1 us}
)";

/// What `nvidia-smi topo -m` prints of such a node.
std::string matrix() {
    std::string text = "        GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 NIC0 CPU Affinity NUMA Affinity\n";
    for (int row = 0; row < 8; ++row) {
        text += fmt::format("GPU{}", row);
        for (int column = 0; column < 8; ++column) text += row == column ? " X" : " NV18";
        text += row < 4 ? " NODE 0-47 0\n" : " SYS 48-95 1\n";
    }
    return text + "NIC0 NODE NODE NODE NODE SYS SYS SYS SYS X\n";
}

/// A ring all-reduce of S bytes among 8 ranks with a start-up time of 25 us and 200 GB/s: 25 us + 2·7/8·S/(200 GB/s).
double law_us(double bytes) {
    return 25 + 2 * 7. / 8 * bytes / 200e3;
}

std::string nccl_log() {
    std::string text =
        "Job 1234 started on node01\n"
        "# nccl-tests version 2.19.6 nccl-headers=22900 nccl-library=22900\n"
        "# Collective test starting: all_reduce_perf\n"
        "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 1073741824 step: 32(factor)\n"
        "# Using devices\n";
    for (int rank = 0; rank < 8; ++rank)
        text += fmt::format("#  Rank  {} Group  0 Pid  4100 on     node01 device  {} [0000:1b:00] NVIDIA H100\n", rank,
                            rank);
    text +=
        "#                                             out-of-place                       in-place\n"
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "
        "busbw  #wrong\n";
    for (const double bytes : {1048576., 33554432., 1073741824.})
        text += fmt::format("{:.0f} {:.0f} float sum -1 {:.2f} 0.00 0.00 0 {:.2f} 0.00 0.00 0\n", bytes, bytes / 4,
                            law_us(bytes), law_us(bytes) - 1);
    return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 123.4\n";
}

constexpr const char* model = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
  "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
  "vocab_size": 128256, "max_position_embeddings": 8192, "tie_word_embeddings": false})";

constexpr const char* launch =
    "torchrun --nproc-per-node 8 --nnodes 1 pretrain_gpt.py --micro-batch-size 1 --global-batch-size 32 \\\n"
    "  --tensor-model-parallel-size 2 --sequence-parallel --use-distributed-optimizer --overlap-grad-reduce \\\n"
    "  --overlap-param-gather --recompute-activations --bf16 --seq-length 8192\n";

void succeeds(const TempDir& folder, const std::vector<std::string>& arguments) {
    const Outcome outcome = run_in(folder, arguments);
    CAPTURE(arguments, outcome.err);
    REQUIRE(outcome.status == 0);
}

json printed(const TempDir& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Outcome outcome = run_in(folder, arguments);
    CAPTURE(arguments, outcome.err);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out);
}

double iteration_s(const json& run) {
    return run.at("results").at(0).at("iteration_time_s").get<double>();
}

}  // namespace

TEST_CASE("own files: from a node, a log of nccl-tests, a model and a script to a calibrated prediction") {
    const TempDir folder;
    folder.write("topo.txt", matrix());
    folder.write("nccl-tests.txt", nccl_log());
    folder.write("config.json", model);
    folder.write("launch.sh", launch);
    succeeds(folder, {"import", "topo.txt", "--set", "platform.device=h100-sxm", "--out", "node.yaml"});
    succeeds(folder, {"import", "nccl-tests.txt", "--set", "platform=node.yaml", "--out", "measured.yaml"});
    const json fit = printed(folder, {"calibrate", "measured.yaml", "--out", "fitted.yaml"});
    CHECK(fit.at("parameters").at(0).at("key") == "platform.transport.launch");
    CHECK(fit.at("parameters").at(0).at("value").get<double>() == Approx(25).epsilon(1e-3));
    CHECK(fit.at("parameters").at(1).at("key") == "platform.transport.inside_node.bandwidth");
    CHECK(fit.at("parameters").at(1).at("value").get<double>() == Approx(200).epsilon(1e-3));
    // The row between the two that calibrate is predicted.
    CHECK(fit.at("rows").at(1).at("role") == "predicted");
    CHECK(fit.at("rows").at(1).at("error").get<double>() == Approx(0).margin(1e-3));

    succeeds(folder, {"import", "config.json", "launch.sh", "--set", "platform=node.yaml", "--out", "training.yaml"});
    const json run = printed(folder, {"run", "training.yaml", "--set", "platform.transport=fitted.yaml"});
    // Llama-3 8B, 32 samples of 8192 tokens on 8 GPUs. Products take 6 FLOP for each token and weight beside the
    // embedding, 6 · (8.03e9 - 0.53e9) · 262144 = 11.8e15, and attention's 12·32·4096·8192·262144 / 2 = 1.7e15 more:
    // 13.5e15 / (8 · 989.5e12) = 1.70 s at the peak of the device, which products reach by 0.5 to 0.8.
    CHECK(iteration_s(run) > 1.70 / 0.8);
    CHECK(iteration_s(run) < 1.70 / 0.4);
    // With tensor parallelism of 2 and sequence parallelism a layer gathers and scatters 8192·4096·2 B = 67 MB eight
    // times each microbatch, at 200 GB/s in place of 450: 32 layers · 8 microbatches · 8 · 33.5 MB · (1/200 - 1/450)
    // s/GB = 0.19 s more than with the links alone. Recomputation gathers again, and gradients take part of a second.
    const double links = iteration_s(printed(folder, {"run", "training.yaml", "--set", "platform.transport=~"}));
    CHECK(iteration_s(run) - links > 0.1);
    CHECK(iteration_s(run) - links < 0.5);
}

TEST_CASE("own files: a log of a training calibrates the device's speed, and validate says what is off") {
    const TempDir folder;
    folder.write("node.yaml", node);
    folder.write("config.json", model);
    folder.write("launch.sh", launch);
    succeeds(folder, {"import", "config.json", "launch.sh", "--set", "platform=node.yaml", "--out", "training.yaml"});
    const double slow = iteration_s(printed(folder, {"run", "training.yaml", "--set", "platform.device.speed=0.7"}));
    std::string log = "using world size: 8, data-parallel size: 4\n";
    for (const auto& [step, ms] : {std::pair(1, 99999.), std::pair(10, 1e3 * slow)})
        log += fmt::format(" iteration {}/ 100 | elapsed time per iteration (ms): {:.1f} | global batch size: 32 |\n",
                           step, ms);
    folder.write("megatron.log", log);
    succeeds(folder, {"import", "megatron.log", "config.json", "launch.sh", "--set", "platform=node.yaml", "--out",
                      "measured.yaml"});
    CHECK(run_in(folder, {"check", "measured.yaml"}).out == "measured.yaml: a correct scenario with measurements\n");

    const json off = printed(folder, {"validate", "measured.yaml"}).at("points").at(0).at("rows").at(0);
    CHECK(off.at("error").get<double>() < -0.1);
    CHECK(off.at("limited_by") == "matrix products");
    CHECK(off.at("exposed_share").get<double>() > 0);
    CHECK_THAT(run_in(folder, {"validate", "measured.yaml", "--wide"}).out,
               ContainsSubstring("the device computes more slowly than its rates say"));

    const json fit = printed(folder, {"calibrate", "measured.yaml", "--out", "fitted/device.yaml"});
    CHECK(fit.at("parameters").at(0).at("value").get<double>() == Approx(0.7).epsilon(1e-3));
    const json again = printed(folder, {"run", "training.yaml", "--set", "platform.device=fitted/device.yaml"});
    CHECK(iteration_s(again) == Approx(slow).epsilon(1e-3));
}

TEST_CASE("own files: what a log does not say is asked for by the name of its key") {
    const TempDir folder;
    folder.write("node.yaml", node);
    folder.write("old.txt",
                 "# out-of-place algbw\n# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                 "1024 256 float sum -1 7.5 1 2 0 8.5 1 2 0\n");
    folder.write("osu.txt", "# OSU MPI Allgather Latency Test v7.5\n# Size  Avg Latency(us)\n1024  5.00\n");
    const auto import = [&](const std::string& file, std::vector<std::string> more) {
        more.insert(more.begin(), {"import", file, "--set", "platform=node.yaml"});
        return run_in(folder, more);
    };
    const Outcome old = import("old.txt", {});
    CHECK(old.status == 3);
    CHECK_THAT(old.err, ContainsSubstring("add `--set collective.operation=allreduce`"));
    CHECK_THAT(old.err, ContainsSubstring("add `--set collective.ranks=8`"));
    CHECK(import("old.txt", {"--set", "collective.operation=allreduce", "--set", "collective.ranks=4"}).status == 0);
    const Outcome osu = import("osu.txt", {});
    CHECK(osu.status == 3);
    CHECK_THAT(osu.err, ContainsSubstring("add `--set collective.ranks=8`"));
    // OSU's size is what a rank contributes, ours the whole.
    CHECK_THAT(import("osu.txt", {"--set", "collective.ranks=8"}).out, ContainsSubstring("{at: [8 KiB], value: 5}"));

    folder.write("hosts.txt",
                 "# Collective test starting: all_reduce_perf\n"
                 "#  Rank 0 Group 0 Pid 1 on a device 0 [0] X\n#  Rank 1 Group 0 Pid 1 on b device 0 [0] X\n" +
                     read_file(folder / "old.txt"));
    const Outcome hosts = import("hosts.txt", {});
    CHECK(hosts.status == 0);
    CHECK_THAT(hosts.err, ContainsSubstring("the ranks were on 2 hosts, and are on 1 of the platform's nodes"));
    folder.write("log.log", "step: 1 loss: 1 grad_norm: 1 tps: 100\n");
    CHECK_THAT(import("log.log", {}).err, ContainsSubstring("add the script or configuration that was run"));
}

TEST_CASE("own files: hostile logs are refused within a second", "[memory]") {
    const TempDir folder;
    const auto refused = [&](const std::string& name, const std::string& text, const std::string& because) {
        CAPTURE(name);
        folder.write(name, text);
        const Outcome outcome = run_in(folder, {"import", name, "--set", "platform=dgx-h100"});
        CHECK(outcome.status == 3);
        CHECK_THAT(outcome.err, ContainsSubstring(because));
        CHECK(outcome.seconds < 5 * patience);
        CHECK(static_cast<double>(outcome.peak_kib) < 500 * 1024 * patience);
    };
    const std::string head =
        "# Collective test starting: all_reduce_perf\n# out-of-place algbw\n"
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
    std::string sizes = head, rows = head;
    for (int i = 1; i < 20'000; ++i) sizes += fmt::format("{} 1 f s -1 1 1 1 0 1 1 1 0\n", i);
    refused("sizes.log", sizes, "this log has too many sizes");
    for (int i = 1; i < 150'000; ++i) rows += "8 1 f s -1 1 1 1 0 1 1 1 0\n";
    refused("rows.log", rows, "this log has too many rows");
    refused("size.log", head + "99999999999999999 1 f s -1 1 1 1 0 1 1 1 0\n",
            "size.log:4:1: error: this size is beyond 1 PB");
    refused("time.log", head + "8 1 f s -1 nan 1 1 0 1 1 1 0\n", "time.log:4:12: error: 'nan' is no time in us");
    refused("large.log", std::string((8 << 20) + 1, '#'), "is too large");
    refused("bytes.log", head + "\xff\xfe", "this byte is not UTF-8 text");
}

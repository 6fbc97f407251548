#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Files about a node become a platform, on which the program runs.

using namespace syncline::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

/// Returns what `nvidia-smi topo -m` prints for GPUs with the same links to all others.
std::string matrix(int gpus, const std::string& links) {
    std::string text;
    for (int i = 0; i < gpus; ++i) text += fmt::format("\tGPU{}", i);
    text += "\tCPU Affinity\n";
    for (int i = 0; i < gpus; ++i) {
        text += fmt::format("GPU{}", i);
        for (int j = 0; j < gpus; ++j) text += i == j ? "\t X " : "\t" + links;
        text += "\t0-47\n";
    }
    return text;
}

}  // namespace

TEST_CASE("import: collectives of eight GPUs take as long on a node that a matrix describes as on our preset") {
    const TempDir folder;
    folder.write("topo.txt", matrix(8, "NV18"));
    REQUIRE(run_in(folder, {"import", "topo.txt", "--set", "platform.device=h100-sxm", "--out", "node.yaml"}).status ==
            0);
    CHECK(run_in(folder, {"check", "node.yaml"}).out == "node.yaml: a correct platform\n");
    for (const char* format : {"table", "svg"})
        CHECK(run_in(folder, {"topology", "node.yaml", "--format", format}).status == 0);
    for (const char* operation : {"allreduce", "allgather", "all-to-all"}) {
        CAPTURE(operation);
        const auto seconds = [&](const std::string& platform) {
            const Outcome outcome = run_in(folder, {"collective", "--platform", platform, "--ranks", "8", "--operation",
                                                    operation, "--bytes", "1 GiB", "--format", "json"});
            CAPTURE(outcome.err);
            REQUIRE(outcome.status == 0);
            return json::parse(outcome.out)["completion_time_s"].get<double>();
        };
        CHECK(seconds("node.yaml") == seconds("dgx-h100"));
    }
    const Outcome larger =
        run_in(folder, {"collective", "--platform", "node.yaml", "--ranks", "16", "--bytes", "1 MiB"});
    CHECK(larger.status == 3);
    CHECK_THAT(larger.err, ContainsSubstring("1 node with 8 devices"));
}

TEST_CASE("import: a node's file and a plan are a scenario") {
    const TempDir folder;
    folder.write("topo.txt", matrix(8, "NV18"));
    folder.write("ds.json", R"({"train_micro_batch_size_per_gpu": 8, "zero_optimization": {"stage": 1}})");
    REQUIRE(run_in(folder, {"import", "topo.txt", "ds.json", "--set", "platform.device=h100-sxm", "--set",
                            "workload=gpt-2", "--set", "training.ranks=8", "--out", "mine.yaml"})
                .status == 0);
    CHECK(run_in(folder, {"check", "mine.yaml"}).out == "mine.yaml: a correct scenario\n");
    const Outcome run = run_in(folder, {"run", "mine.yaml"});
    CAPTURE(run.err);
    CHECK(run.status == 0);
}

TEST_CASE("import: a node's file in place of a platform is an error that says how") {
    const TempDir folder;
    folder.write("topo.txt", matrix(2, "NV4"));
    const Outcome outcome =
        run_in(folder, {"collective", "--platform", "topo.txt", "--ranks", "2", "--bytes", "1 MiB"});
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("`syncline import topo.txt --out platform.yaml` makes one of it"));
}

TEST_CASE("import: hostile files about nodes are refused within a second", "[memory]") {
    const TempDir folder;
    const auto refused = [&](const std::string& name, const std::string& text, const std::string& because) {
        CAPTURE(name);
        folder.write(name, text);
        const Outcome outcome = run_in(folder, {"import", name, "--set", "platform.device=h100-sxm"});
        CHECK(outcome.status == 3);
        CHECK_THAT(outcome.err, ContainsSubstring(because));
        CHECK(outcome.seconds < 5 * patience);  // 0.2 s on an idle machine
        CHECK(static_cast<double>(outcome.peak_kib) < 300 * 1024 * patience);
    };
    refused("large.txt", matrix(257, "NV1"), "there are too many columns");
    refused("square.txt", matrix(250, "NV19"), "GPU0 has 19 NVLinks here, and 'h100-sxm' has 18");
    refused("heads.txt", "GPU0 GPU1\n" + std::string(1'000'000, '\n'), "this file has too many tokens");
    refused("wide.txt", "GPU0 GPU1" + std::string(900'000, ' ') + "\nGPU0 X NV1\n", "the row of GPU1 is missing");
    std::string open = "<system>", gpus = "<system>", nets = "<system><cpu>";
    for (int i = 0; i < 1000; ++i) open += "<pci>";
    refused("deep.xml", open, "nested too deeply");
    for (int i = 0; i < 100'000; ++i) gpus += "<gpu/>";
    refused("gpus.xml", gpus, "there are too many GPUs");
    for (int i = 0; i < 300; ++i) nets += "<net name=\"n\" speed=\"x\"/>";
    refused("nets.xml", nets, "'speed' is 'x'");
    std::string parts = "<topology version=\"2.0\">";
    for (int i = 0; i < 100'000; ++i) parts += "<object/>";
    refused("parts.xml", parts, "there are too many elements");
    // Many elements in one long line, each of which might be noted with it.
    std::string names = "<system><gpu sm=\"90\"><nvlink tclass=\"0x068000\" count=\"18\"/></gpu>";
    for (int i = 0; i < 40'000; ++i) names += fmt::format("<a{}/>", i);
    refused("names.xml", names, "this is not XML");
    refused("entities.xml", "<!DOCTYPE system [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><system>&b;</system>",
            "is not allowed");
}

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Hints say what helps: following one does not lead to the next error.

using namespace syncline::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Four nodes on a switch, or on a tree that has no fifth place.
std::string scenario(const std::string& fabric) {
    return "platform: {nodes: 4, device: {flops: 1 Tflops, memory_bandwidth: 1 TBps, memory: 8 MB}, fabric: "
           "{topology: " +
           fabric + R"(, bandwidth: 1 GBps, latency: 1 us}}
workload:
  name: one-layer
  input: [1, 1, 1000]
  layers: [{name: fc, kind: dense, inputs: 1000, outputs: 1000}]
training: {ranks: 4, batch_per_rank: 1, optimizer: sgd}
)";
}

}  // namespace

TEST_CASE("hint: more nodes are proposed only if the fabric can have them and servers need not have their own") {
    const TempDir directory;
    directory.write("star.yaml", scenario("star"));
    directory.write("tree.yaml", scenario("fat-tree, down: [2, 2], up: [1, 1], cables: [1, 1]"));
    const std::vector<std::string> servers{"--set", "training.exchange=parameter-server"};
    const auto run = [&](const std::string& file, std::vector<std::string> options) {
        options.insert(options.begin(), {"run", file, "--allow-oom"});
        options.insert(options.end(), servers.begin(), servers.end());
        return run_in(directory, std::move(options));
    };
    Outcome outcome = run("star.yaml", {});
    CHECK(outcome.status == 3);
    CHECK(holds(outcome.err, "`--set platform.nodes=5` makes it larger; `--set training.servers.location=colocated`"));
    CHECK(run("star.yaml", {"--set", "platform.nodes=5"}).status == 0);
    outcome = run("tree.yaml", {});
    CHECK(outcome.status == 3);
    CHECK(holds(outcome.err, "its fabric has no more hosts; `--set training.servers.location=colocated`"));
    CHECK(run("tree.yaml", {"--set", "training.servers.location=colocated"}).status == 0);
}

TEST_CASE("hint: a model that does not fit by itself is not helped by fewer samples") {
    const TempDir directory;
    // Weights and gradients take 8 MB, and a sample keeps 4 kB.
    directory.write("scenario.yaml", scenario("star"));
    const auto run = [&](const std::string& memory) {
        return run_in(directory, {"run", "scenario.yaml", "--set", "training.batch_per_rank=10000", "--set",
                                  "platform.device.memory=" + memory});
    };
    CHECK(holds(run("9 MB").err, "hint: reduce the samples in flight"));
    CHECK(holds(run("7 MB").err, "hint: put less of the model on each device"));
}

TEST_CASE("hint: run and explain of a study name the verbs for studies") {
    const TempDir directory;
    directory.write("study.yaml", "base: zhang-2021\naxes: {training.ranks: [1, 2]}\n");
    for (const char* verb : {"run", "explain"}) {
        const Outcome outcome = run_in(directory, {verb, "study.yaml"});
        CHECK(outcome.status == 3);
        CHECK(holds(outcome.err, "study.yaml:1:1: error: this is a study, not a scenario"));
        CHECK(holds(outcome.err, "`syncline batch study.yaml`"));
        CHECK_FALSE(holds(outcome.err, "unknown key"));
    }
    CHECK(run_in(directory, {"check", "study.yaml"}).status == 0);
}

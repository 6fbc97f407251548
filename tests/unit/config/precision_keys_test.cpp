#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/config/files.hpp"
#include "tests/catch.hpp"

// The keys for the sizes of elements and for compressed gradients.

using namespace syncline;

namespace {

/// Returns the plan of a scenario with these keys in `training`. Throws ConfigError.
Plan plan_of(const std::string& training) {
    const auto path = std::filesystem::temp_directory_path() / ("syncline-sizes-" + std::to_string(getpid()) + ".yaml");
    const std::string root = SYNCLINE_SOURCE_DIR;
    std::ofstream(path) << "platform: " + root + "/platforms/p100-25g.yaml\nworkload: " + root +
                               "/workloads/resnet-50.yaml\ntraining: {ranks: 8, " + training + "}\n";
    struct Remove {
        std::filesystem::path path;
        ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    return config::load_scenario(path.string(), {}).variants.front().plan;
}

/// Returns the only error, which must be in line 3, in the column of `at`.
std::string error_of(const std::string& training, const std::string& at) {
    try {
        plan_of(training);
    } catch (const ConfigError& error) {
        REQUIRE(error.diagnostics().size() == 1);
        const Diagnostic& only = error.diagnostics().front();
        CAPTURE(training, only.message, only.where.column);
        CHECK(only.where.line == 3);
        const std::string line = "training: {ranks: 8, " + training + "}";
        CHECK(line.substr(static_cast<std::size_t>(only.where.column - 1)).starts_with(at));
        return only.message;
    }
    FAIL("nothing is wrong with " << training);
    return {};
}

}  // namespace

TEST_CASE("precision is read as a word or as sizes") {
    CHECK_FALSE(plan_of("precision: uniform").precision.given());
    CHECK_FALSE(plan_of("batch_per_rank: 32").precision.given());
    const Precision mixed = plan_of("precision: mixed").precision;
    CHECK(mixed.weights == 2);
    CHECK(mixed.gradients == 2);
    CHECK(mixed.activations == 2);
    CHECK(mixed.master == 4);
    const Precision some =
        plan_of("precision: {weights: 2 B, gradients: 4 B, master: none, activations: 1 B}").precision;
    CHECK(some.weights == 2);
    CHECK(some.gradients == 4);
    CHECK(some.activations == 1);
    CHECK(some.master == 0);
    CHECK(some.accumulation == 0);
    CHECK(plan_of("precision: {gradients: 2 B, accumulation: 4 B}").precision.accumulation == 4);
    CHECK(plan_of("precision: {accumulation: none}").precision.accumulation == 0);
    const Precision one = plan_of("precision: {activations: 2 B}").precision;
    CHECK(one.activations == 2);
    CHECK_FALSE(one.weights);
    CHECK_FALSE(one.master);
}

TEST_CASE("precision: wrong words and sizes are rejected where they are written") {
    CHECK(error_of("precision: fp16", "fp16") == "'precision' cannot be 'fp16'");
    error_of("precision: {weight: 2 B}", "weight");
    error_of("precision: {weights: 17 B}", "17 B");
    error_of("precision: {weights: 2}", "2");
    error_of("precision: {gradients: none}", "none");
    CHECK(error_of("precision: {weights: 2 B, master: 2 B}", "2 B}") ==
          "a master copy of 2 B has no effect beside weights of 2 B");
    error_of("precision: {master: 4 B}", "4 B");
}

TEST_CASE("compression is read as a word or as a method with its keys") {
    using Kind = Compression::Kind;
    CHECK_FALSE(plan_of("compression: none").compression.any());
    CHECK(plan_of("compression: fp16").compression.kind == Kind::fp16);
    const Compression slow = plan_of("compression: {fp16: {bandwidth: 50 GBps}}").compression;
    CHECK(slow.kind == Kind::fp16);
    CHECK(slow.codec_Bps == 50e9);
    const Plan top = plan_of("compression: {top_k: {ratio: 0.1 %, index: 2 B, algorithm: bruck}}");
    CHECK(top.compression.kind == Kind::top_k);
    CHECK(top.compression.ratio == Approx(0.001));
    CHECK(top.compression.index_bytes == 2);
    CHECK(top.algorithm.operation == "allgather");
    CHECK(top.algorithm.name == "bruck");
    CHECK(plan_of("compression: {top_k: {ratio: 0.01}}").compression.ratio == 0.01);
    const Plan power = plan_of("algorithm: rabenseifner, compression: {powersgd: {rank: 4}}");
    CHECK(power.compression.kind == Kind::powersgd);
    CHECK(power.compression.rank == 4);
    CHECK(power.algorithm.name == "rabenseifner");
    CHECK(plan_of("compression: fp16, partition: 4 MB, fusion: {threshold: 64 MiB, cycle: 5 ms}").partition_bytes ==
          4e6);
}

TEST_CASE("compression: combinations that make no sense are rejected where they are written") {
    const std::string top = "compression: {top_k: {ratio: 1 %}}";
    error_of("compression: fp8", "fp8");
    error_of("compression: {}", "{}");
    error_of("compression: {top_k: {}}", "{}");
    error_of("compression: {top_k: {ratio: 200 %}}", "200 %");
    CHECK(error_of("compression: {top_k: {ratio: 0.5}}", "0.5") ==
          "values and indices have as many bytes as all gradients");
    error_of("compression: {powersgd: {rank: 0}}", "0");
    error_of("compression: {powersgd: {rank: 5000}}", "5000");
    error_of("compression: {top_k: {ratio: 1 %}, powersgd: {rank: 1}}", "{rank");
    error_of("precision: mixed, compression: fp16", "fp16");
    error_of("exchange: gossip, compression: fp16", "fp16");
    error_of("exchange: parameter-server, compression: fp16", "fp16");
    error_of("overlap: across-iterations, compression: fp16", "fp16");
    error_of("schedule: priority, compression: fp16", "fp16");
    error_of("partition: 1 MB, " + top, "{top_k");
    error_of("parallelism: {sharding: optimizer}, compression: fp16", "fp16");
    error_of("parallelism: {pipeline: 2}, compression: fp16", "fp16");
    CHECK(plan_of(top).algorithm.name == "ring");
    for (const char* key : {"algorithm: direct", "segment: 1 MB", "overlay: ring"}) {
        CAPTURE(key);
        const std::string value = std::string(key).substr(std::string(key).find(' ') + 1);
        error_of(std::string(key) + ", " + top, value);
    }
}

TEST_CASE("gossip by machine is read with a hierarchical overlay") {
    const Plan plan = plan_of(
        "exchange: gossip, peers: machine, overlay: {topology: hierarchical, levels: [{pattern: ring, size: 4}, "
        "{pattern: ring}]}");
    CHECK(plan.algorithm.peers == Peers::machine);
    error_of("exchange: gossip, peers: machine", "{ranks");
    error_of(
        "exchange: gossip, peers: machine, overlay: {topology: hierarchical, levels: [{pattern: ring, size: 3}, "
        "{pattern: ring}]}",
        "{topology");
}

TEST_CASE("what a framework keeps is read as a section") {
    const Saved none = plan_of("batch_per_rank: 32").saved;
    CHECK_FALSE(none.gathered);
    CHECK_FALSE(none.gate);
    CHECK_FALSE(none.logit_bytes);
    const Saved all = plan_of("saved: {gathered: true, gate: true, logits: 14 B}").saved;
    CHECK(all.gathered);
    CHECK(all.gate);
    CHECK(all.logit_bytes == 14);
    CHECK_FALSE(plan_of("saved: {gathered: true}").saved.logit_bytes);
    CHECK_THAT(error_of("saved: {logits: 3 B}", "3 B"), Catch::Matchers::ContainsSubstring("logits"));
    CHECK_THAT(error_of("saved: {gates: true}", "gates"), Catch::Matchers::ContainsSubstring("gates"));
    CHECK_THAT(error_of("precision: {accumulation: 17 B}", "17 B"), Catch::Matchers::ContainsSubstring("accumulation"));
}

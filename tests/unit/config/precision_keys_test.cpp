#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/config/scenario.hpp"
#include "tests/catch.hpp"

// The keys for the sizes of elements and for compressed gradients. Mistakes are in tests/cases/precision.cases.

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

}  // namespace

TEST_CASE("precision is read as a word or as sizes", "[memory]") {
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

TEST_CASE("compression is read as a word or as a method with its keys", "[memory]") {
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
    CHECK(plan_of("compression: {top_k: {ratio: 1 %}}").algorithm.name == "ring");
    CHECK(plan_of("compression: fp16, partition: 4 MB, fusion: {threshold: 64 MiB, cycle: 5 ms}").partition_bytes ==
          4e6);
}

TEST_CASE("gossip by machine is read with a hierarchical overlay", "[memory]") {
    const Plan plan = plan_of(
        "exchange: gossip, peers: machine, overlay: {topology: hierarchical, levels: [{pattern: ring, size: 4}, "
        "{pattern: ring}]}");
    CHECK(plan.algorithm.peers == Peers::machine);
}

TEST_CASE("what a framework keeps is read as a section", "[memory]") {
    const Saved none = plan_of("batch_per_rank: 32").saved;
    CHECK_FALSE(none.gathered);
    CHECK_FALSE(none.gate);
    CHECK_FALSE(*plan_of("batch_per_rank: 32").kept().gate);
    CHECK(*plan_of("elementwise: separate").kept().gate);
    CHECK_FALSE(*plan_of("elementwise: separate, saved: {gate: false}").kept().gate);
    CHECK_FALSE(none.logit_bytes);
    const Saved all = plan_of("saved: {gathered: true, gate: true, logits: 14 B}").saved;
    CHECK(all.gathered);
    CHECK(*all.gate);
    CHECK(all.logit_bytes == 14);
    CHECK_FALSE(plan_of("saved: {gathered: true}").saved.logit_bytes);
}

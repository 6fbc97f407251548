#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "sim/check/check.hpp"
#include "sim/config/scenario.hpp"
#include "tests/catch.hpp"

using namespace syncline;
using config::Scenario;
using config::Variant;

namespace {

const std::string p100 = SYNCLINE_SOURCE_DIR "/platforms/p100-25g.yaml";
const std::string resnet = SYNCLINE_SOURCE_DIR "/workloads/resnet-50.yaml";

/// A directory of files that a test writes, removed at the end.
class Files {
public:
    Files() : directory_(std::filesystem::temp_directory_path() / ("syncline-scenario-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(directory_);
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    ~Files() { std::filesystem::remove_all(directory_); }

    std::string write(const std::string& name, const std::string& text) const {
        const std::filesystem::path path = directory_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }

private:
    std::filesystem::path directory_;
};

/// The first lines of every scenario here: a platform and a model, without training.
const std::string head = "platform: " + p100 + "\nworkload: " + resnet + "\n";

std::vector<Diagnostic> errors_of(const std::function<void()>& step) {
    try {
        step();
    } catch (const ConfigError& error) {
        return error.diagnostics();
    }
    return {};
}

Scenario load(const std::string& text, const std::vector<std::string>& assignments = {}) {
    const Files files;
    return config::load_scenario(files.write("test.yaml", text), assignments);
}

}  // namespace

TEST_CASE("a scenario without variants is one, called base", "[memory]") {
    const Scenario scenario = load(head + "training: {ranks: 8}\n");
    CHECK(scenario.name == "test");
    REQUIRE(scenario.variants.size() == 1);
    const Variant& base = scenario.variants[0];
    CHECK(base.name == "base");
    CHECK(base.cluster.name == "p100-25g");
    CHECK(base.model.name == "resnet-50");
    CHECK(base.plan.ranks == 8);
    CHECK(base.plan.exchange == ExchangeKind::allreduce);
    CHECK(base.plan.algorithm.name == "ring");
    CHECK(base.plan.overlap == Overlap::wait_free);
    CHECK(base.plan.iterations == 4);
}

TEST_CASE("every key of training is read", "[memory]") {
    const Plan plan = load(head +
                           "name: mine\ndescription: text\ntraining: {ranks: 8, batch_per_rank: 16, iterations: 5, "
                           "parallelism: data, exchange: parameter-server, algorithm: ring, overlap: none, input_copy: "
                           "blocking, fusion: {threshold: 64 MiB, cycle: 5 ms}, servers: {count: 3, placement: "
                           "greedy-bytes, location: colocated}}\n")
                          .variants.at(0)
                          .plan;
    CHECK(plan.ranks == 8);
    CHECK(plan.batch_per_rank == 16);
    CHECK(plan.iterations == 5);
    CHECK(plan.exchange == ExchangeKind::parameter_server);
    CHECK(plan.overlap == Overlap::none);
    CHECK(plan.input_copy == InputCopy::blocking);
    CHECK(plan.fusion.threshold_bytes == 64 * 1024 * 1024);
    CHECK(plan.fusion.cycle_s == Approx(5e-3));
    CHECK(plan.servers.count == 3);
    CHECK(plan.servers.assignment == ServerAssignment::greedy_bytes);
    CHECK(plan.servers.location == ServerLocation::spread);
}

TEST_CASE("servers are placed by a word, or by a mapping that says how they share nodes", "[memory]") {
    const auto location = [](const std::string& text) {
        return load(head + "training: {ranks: 8, exchange: parameter-server, servers: {location: " + text + "}}\n")
            .variants.at(0)
            .plan.servers.location;
    };
    CHECK(location("dedicated") == ServerLocation::dedicated);
    CHECK(location("colocated") == ServerLocation::spread);
    CHECK(location("{colocated: spread}") == ServerLocation::spread);
    CHECK(location("{colocated: packed}") == ServerLocation::packed);
}

TEST_CASE("variants override the base in the file's order", "[memory]") {
    const Scenario scenario = load(head +
                                   "training: {ranks: 8, overlap: none, fusion: {threshold: 1 MiB}}\n"
                                   "variants:\n"
                                   "  one: {}\n"
                                   "  two: {training.overlap: wait-free, training: {fusion: none}}\n"
                                   "  three: {platform.fabric.bandwidth: 1 Gbps}\n");
    REQUIRE(scenario.variants.size() == 3);
    CHECK(scenario.variants[0].name == "one");
    CHECK(scenario.variants[0].plan.overlap == Overlap::none);
    CHECK(scenario.variants[0].plan.fusion.threshold_bytes == 1024 * 1024);
    CHECK(scenario.variants[1].plan.overlap == Overlap::wait_free);
    CHECK(scenario.variants[1].plan.fusion.threshold_bytes == 0);
    CHECK(scenario.variants[1].cluster.fabric.topology.bandwidth_Bps.front() == Approx(25e9 / 8));
    CHECK(scenario.variants[2].cluster.fabric.topology.bandwidth_Bps.front() == Approx(1e9 / 8));
    CHECK(scenario.variants[2].cluster.fabric.topology.latency_s.front() == Approx(1e-6));
}

TEST_CASE("a file named by a variant replaces the one of the base", "[memory]") {
    const Scenario scenario = load(head + "training.ranks: 4\nvariants:\n  vgg: {workload: " + SYNCLINE_SOURCE_DIR +
                                   "/workloads/vgg-16.yaml}\n  custom: {workload: {name: tiny, input: 1, layers: "
                                   "[{name: a, kind: dense, inputs: 1, outputs: 1}], published: ~}}\n");
    CHECK(scenario.variants.at(0).model.layers.size() == 16);
    CHECK(scenario.variants.at(1).model.layers.size() == 1);
}

TEST_CASE("assignments override variants, and later ones override earlier ones", "[memory]") {
    const std::string text = head + "training: {ranks: 8}\nvariants: {a: {training.ranks: 4}, b: {}}\n";
    const Scenario scenario = load(text, {"training.ranks=2", "training.ranks=16"});
    REQUIRE(scenario.variants.size() == 2);
    CHECK(scenario.variants[0].plan.ranks == 16);
    CHECK(scenario.variants[1].plan.ranks == 16);
}

TEST_CASE("assignments can change a platform, and one variant", "[memory]") {
    const std::string text = head + "training: {ranks: 8}\nvariants: {a: {training.ranks: 4}, b: {}}\n";
    const Scenario scenario =
        load(text, {"variants.b.training.ranks=2", "variants.c.training.ranks=3", "platform.fabric.bandwidth=40Gbps",
                    "platform.device.flops=1 Tflops", "name=renamed"});
    CHECK(scenario.name == "renamed");
    REQUIRE(scenario.variants.size() == 3);
    CHECK(scenario.variants[0].plan.ranks == 4);
    CHECK(scenario.variants[1].plan.ranks == 2);
    CHECK(scenario.variants[2].plan.ranks == 3);
    CHECK(scenario.variants[2].cluster.fabric.topology.bandwidth_Bps.front() == Approx(5e9));
    CHECK(scenario.variants[2].cluster.device.flops_per_s == Approx(1e12));
    CHECK(load(text, {"variants=~"}).variants.at(0).name == "base");
    CHECK(load(text, {"variants.a=~"}).variants.size() == 1);
}

TEST_CASE("a null removes a key, so that its default applies", "[memory]") {
    const std::string text =
        head + "training: {ranks: 8, batch_per_rank: 7}\nvariants: {a: {training.batch_per_rank: ~}}\n";
    CHECK(load(text).variants.at(0).plan.batch_per_rank == 32);
    CHECK(load(head + "training: {ranks: 8, batch_per_rank: 7}\n", {"training.batch_per_rank=~"})
              .variants.at(0)
              .plan.batch_per_rank == 32);
}

TEST_CASE("paths are relative to the file that names them", "[memory]") {
    const Files files;
    files.write("lib/devices/gpu.yaml", "flops: 1 Tflops\nmemory_bandwidth: 300 GBps\n");
    files.write("lib/cluster.yaml", "nodes: 4\ndevice: devices/gpu.yaml\nfabric: {bandwidth: 8 Gbps, latency: 1 us}\n");
    const std::string path =
        files.write("mine/run.yaml", "platform: ../lib/cluster.yaml\nworkload: " + resnet + "\ntraining: {ranks: 4}\n");
    const Scenario scenario = config::load_scenario(path, {});
    CHECK(scenario.name == "run");
    CHECK(scenario.variants.at(0).cluster.device.flops_per_s == Approx(1e12));
    CHECK(config::check_file(path) == "scenario");
}

TEST_CASE("a collective is described by options", "[memory]") {
    const config::CollectiveQuestion question = config::load_collective(
        {{"platform", p100}, {"ranks", "64"}, {"bytes", "100 MB"}, {"algorithm", "parameter-server"}, {"servers", "4"}},
        {"platform.fabric.bandwidth=100Gbps"});
    CHECK(question.plan.ranks == 64);
    CHECK(question.plan.servers == 4);
    CHECK(question.plan.algorithm.name == "parameter-server");
    CHECK(question.plan.algorithm.operation == "allreduce");
    CHECK(question.plan.bytes == 100'000'000);
    CHECK(question.cluster.fabric.topology.bandwidth_Bps.front() == Approx(12.5e9));
    CHECK(config::load_collective({{"platform", p100}, {"ranks", "2"}, {"bytes", "0 B"}}, {}).plan.bytes == 0);
}

TEST_CASE("invalid options are shown as typed", "[memory]") {
    const auto errors = errors_of([] {
        config::load_collective({{"platform", p100}, {"ranks", "0"}, {"bytes", "-1 B"}, {"algorithm", "rign"}}, {});
    });
    REQUIRE(errors.size() == 3);
    CHECK(errors[0].where.file == "--ranks");
    CHECK(errors[0].where.line == 1);
    CHECK(errors[0].where.column == 9);
    CHECK(errors[0].where.source_line == "--ranks 0");
    CHECK(errors_of([] { config::load_collective({{"platform", p100}, {"bytes", "1 B"}}, {}); }).size() == 1);
    CHECK(errors_of([] {
              config::load_collective(
                  {{"platform", p100}, {"bytes", "1 B"}, {"ranks", "4096"}, {"algorithm", "parameter-server"}},
                  {"platform.nodes=4096"});
          }).size() == 1);
    CHECK(errors_of([] {
              config::load_collective({{"platform", p100}, {"bytes", "1 B"}, {"ranks", "2"}, {"servers", "2"}}, {});
          }).size() == 1);
    CHECK(errors_of([] {
              config::load_collective({{"platform", "a: b: c"}, {"bytes", "1 B"}, {"ranks", "2"}}, {});
          }).size() == 1);
}

TEST_CASE("a file's keys show its kind", "[memory]") {
    const std::string root = SYNCLINE_SOURCE_DIR;
    CHECK(config::check_file(p100) == "platform");
    CHECK(config::check_file(resnet) == "workload");
    CHECK(config::check_file(root + "/platforms/devices/p100-sxm2.yaml") == "device");
    CHECK(config::check_file(root + "/scenarios/vgg-16-overlap.yaml") == "scenario");
    const Files files;
    const auto unclear = files.write("unclear.yaml", "name: x\n");
    CHECK(errors_of([&] { config::check_file(unclear); }).size() == 1);
    const auto wrong = files.write("wrong.yaml", "nodes: 0\nfabric: {bandwidth: 1 Gbps}\n");
    CHECK(errors_of([&] { config::check_file(wrong); }).size() == 3);
}

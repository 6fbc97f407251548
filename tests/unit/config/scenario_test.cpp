#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "sim/check/check.hpp"
#include "sim/config/files.hpp"
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
const std::string p100_device = SYNCLINE_SOURCE_DIR "/platforms/devices/p100-sxm2.yaml";
const std::string head = "platform: " + p100 + "\nworkload: " + resnet + "\n";

std::vector<Diagnostic> errors_of(const std::function<void()>& step) {
    try {
        step();
    } catch (const ConfigError& error) {
        return error.diagnostics();
    }
    return {};
}

std::vector<Diagnostic> errors_in(const std::string& text, const std::vector<std::string>& assignments = {}) {
    const Files files;
    const std::string path = files.write("test.yaml", text);
    return errors_of([&] { config::load_scenario(path, assignments); });
}

Scenario load(const std::string& text, const std::vector<std::string>& assignments = {}) {
    const Files files;
    return config::load_scenario(files.write("test.yaml", text), assignments);
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
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
    CHECK(plan.servers.placement == Placement::greedy_bytes);
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
    const auto errors = [](const std::string& text) {
        return errors_in(head + "training: {ranks: 8, exchange: parameter-server, servers: {location: " + text +
                         "}}\n");
    };
    CHECK(errors("{colocated: apart}").size() == 1);
    CHECK(errors("{dedicated: packed}").size() == 2);  // an unknown key, and a missing one
    CHECK(errors("{}").size() == 1);
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

TEST_CASE("ranks must fit the platform", "[memory]") {
    // The same platform with a number of nodes.
    const std::string small = "platform: {name: small, nodes: 4096, device: " + p100_device +
                              ", fabric: {bandwidth: 25 Gbps, latency: 1 us}}\nworkload: " + resnet + "\n";
    const auto errors = errors_in(small + "training:\n  ranks: 4097\n");
    REQUIRE(errors.size() == 1);
    CHECK(contains(errors[0].message, "4097 ranks do not fit platform 'small', which has 4096 nodes"));
    CHECK(errors[0].where.line == 4);
    CHECK(errors[0].where.column == 10);
    CHECK(errors_in(small + "training: {ranks: 4096}\n").empty());
    CHECK(errors_in(small + "training: {ranks: 4096, servers: {count: 2}}\n").empty());
    CHECK(errors_in(small + "training: {ranks: 4096, exchange: parameter-server}\n").size() == 1);
    CHECK(errors_in(small + "training: {ranks: 4096, exchange: parameter-server, servers: {location: colocated}}\n")
              .empty());
    CHECK(
        errors_in(head + "training: {ranks: 2, exchange: parameter-server, servers: {count: 3, location: colocated}}\n")
            .size() == 1);
}

TEST_CASE("errors are reported together, each once and at its place", "[memory]") {
    const auto errors = errors_in(head +
                                  "training:\n"
                                  "  ranks: 0\n"
                                  "  overlap: wait-fre\n"
                                  "  fusion: {threshold: 64}\n"
                                  "variants: {a: {}, b: {training.batch_per_rank: x}, c: 5}\n");
    std::vector<int> lines;
    for (const Diagnostic& error : errors) lines.push_back(error.where.line);
    for (const int line : {4, 5, 6}) {
        INFO(line);
        CHECK(std::count(lines.begin(), lines.end(), line) == 1);
    }
    CHECK(std::count(lines.begin(), lines.end(), 7) == 2);
    CHECK(errors.size() == 5);
}

TEST_CASE("a file that cannot be read is one error at its name", "[memory]") {
    const auto errors =
        errors_in("platform: none.yaml\nworkload: " + resnet + "\ntraining: {ranks: 0}\nvariants: {a: {}, b: {}}\n");
    REQUIRE(errors.size() == 2);
    CHECK(errors[0].where.line == 1);
    CHECK(errors[0].where.column == 11);
    CHECK(errors[1].where.line == 3);
}

TEST_CASE("missing parts of a scenario are errors", "[memory]") {
    const auto missing = errors_in("training: {ranks: 1}\n");
    REQUIRE(missing.size() == 1);
    CHECK(contains(missing[0].message, "platform"));
    CHECK(contains(missing[0].message, "workload"));
    const auto errors = errors_in(head + "training: {overlap: none}\n");
    REQUIRE(errors.size() == 1);
    CHECK(contains(errors[0].message, "ranks"));
    CHECK(errors[0].where.line == 3);
    CHECK(errors_in("").size() >= 1);
    CHECK(errors_in("[1, 2]\n").size() >= 1);
    CHECK(errors_in("5\n").size() >= 1);
}

TEST_CASE("variants are mappings of other keys, each named once", "[memory]") {
    const std::string base = head + "training: {ranks: 2}\n";
    CHECK(errors_in(base + "variants: 5\n").size() == 1);
    CHECK(errors_in(base + "variants: [a, b]\n").size() == 1);
    CHECK(errors_in(base + "variants: {a: 5}\n").size() == 1);
    CHECK(errors_in(base + "variants: {a: {}, a: {}}\n").size() == 1);
    CHECK(errors_in(base + "variants: {a: {name: b}}\n").size() == 1);
    CHECK(errors_in(base + "variants: {a: {variants: {}}}\n").size() == 1);
    CHECK(errors_in(base + "variants: {a: {trainin.ranks: 4}}\n").size() == 1);
}

TEST_CASE("an invalid assignment is shown as typed", "[memory]") {
    const auto errors = errors_in(head + "training: {ranks: 2}\n", {"training.ranks=0", "training.speed=1", "nothing"});
    CHECK(errors.size() == 3);
    for (const Diagnostic& error : errors) CHECK(contains(error.where.file, "--set"));
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

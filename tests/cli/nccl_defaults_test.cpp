#include <map>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

// Defaults of platforms with NVSwitch: NCCL's choice, launches, protocols and switches that add up.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// Returns the point of a collective.
json point(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "collective");
    arguments.insert(arguments.end(), {"--format", "json"});
    const Outcome outcome = run_program({.arguments = arguments});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return json::parse(outcome.out);
}

double bus_GBps(const std::string& platform, int ranks, const std::string& bytes,
                const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--platform", platform, "--ranks", std::to_string(ranks), "--bytes", bytes};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return point(arguments).at("bus_bandwidth_Bps").get<double>() / 1e9;
}

}  // namespace

TEST_CASE("nccl defaults: a small all-reduce takes launches and latencies, once") {
    // LL's ring on eight H100: 5.1 us and 14 steps of 0.8 us.
    const json eight = point({"--platform", "dgx-h100", "--ranks", "8", "--bytes", "8 B"});
    CHECK(eight.at("completion_time_s").get<double>() == Approx(16.3e-6).epsilon(0.001));
    CHECK(eight.at("algorithm") == "nccl-h100: ring/LL");
    // LL's tree on eight nodes of eight: 6.8 us, 2·7 hops of 0.6 us in nodes, 2·3 of 5 us between them, and two or
    // four cables of 1 us for each of these.
    const json many = point({"--platform", "dgx-h100", "--ranks", "64", "--bytes", "8 B"});
    CHECK(many.at("completion_time_s").get<double>() > 57e-6);
    CHECK(many.at("completion_time_s").get<double>() < 69.3e-6);
    CHECK(many.at("algorithm") == "nccl-h100: nccl-tree/LL");
}

TEST_CASE("nccl defaults: NVLS has the measured bus bandwidths of 4 to 8 H100, and of 8 B200") {
    // NVIDIA/nccl, issues 1374, 1455 and 2140, buffers of some GB.
    const std::map<int, double> measured{{4, 367}, {5, 420}, {6, 440}, {7, 460}, {8, 480}};
    for (const auto& [ranks, GBps] : measured) {
        CAPTURE(ranks);
        CHECK(bus_GBps("dgx-h100", ranks, "4 GiB") == Approx(GBps).epsilon(0.04));
    }
    // stas00/ml-engineering, network/README.md: 846 GB/s; NVIDIA/nccl, issue 1807: 830 and more.
    CHECK(bus_GBps("dgx-b200", 8, "16 GiB") == Approx(838).epsilon(0.08));
}

TEST_CASE("nccl defaults: rings are bound by packets on NVLink and by the ports between nodes") {
    const std::vector<std::string> ring{"--algorithm", "ring"};
    // 361 to 370 GB/s in a node with large buffers (#1047, #1455; stas00/ml-engineering); 369 on two nodes and 366 on
    // four (NVIDIA/nccl-tests, issues 309 and 319).
    CHECK(bus_GBps("dgx-h100", 8, "8 GiB", ring) == Approx(365).epsilon(0.03));
    CHECK(bus_GBps("dgx-h100", 16, "8 GiB", ring) == Approx(369).epsilon(0.01));
    CHECK(bus_GBps("dgx-h100", 32, "8 GiB", ring) == Approx(366).epsilon(0.01));
    // On two nodes NVLSTree goes beyond the ports: 470 GB/s there.
    CHECK(bus_GBps("dgx-h100", 16, "8 GiB") == Approx(470).epsilon(0.11));
    // Four nodes of B200 with 400 Gb/s per GPU: 382 (stas00/ml-engineering).
    CHECK(bus_GBps("dgx-b200", 32, "16 GiB") == Approx(382).epsilon(0.01));
}

TEST_CASE("nccl defaults: without the transport messages cost the wires' time alone") {
    CHECK(point({"--platform", "dgx-h100", "--ranks", "8", "--bytes", "8 B", "--transport", "{name: wires}"})
              .at("completion_time_s")
              .get<double>() < 1e-9);
}

TEST_CASE("nccl defaults: sharded weights, their gradients and tensor parallelism have NCCL's protocols, too") {
    const TempDir folder;
    folder.write("sharded.yaml",
                 "name: sharded\nplatform: dgx-h100\nworkload: gpt-2\n"
                 "training: {ranks: 16, batch: 16, parallelism: {model: 8, sharding: optimizer}}\n");
    const Outcome outcome = run_program({.arguments = {"run", folder / "sharded.yaml", "--format", "json"}});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const json result = json::parse(outcome.out).at("results").at(0);
    const auto label = result.at("algorithm").get<std::string>();
    CAPTURE(label);
    CHECK(label.starts_with("reduce-scatter: nccl-h100: ring/"));
    CHECK(label.find("allgather: nccl-h100: ring/") != std::string::npos);
    // The same without a transport is faster.
    const Outcome wires = run_program(
        {.arguments = {"run", folder / "sharded.yaml", "--format", "json", "--set", "platform.transport=~"}});
    REQUIRE(wires.status == 0);
    CHECK(json::parse(wires.out).at("results").at(0).at("iteration_time_s").get<double>() <
          result.at("iteration_time_s").get<double>());
}

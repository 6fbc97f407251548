#include <filesystem>

#include "tests/catch.hpp"
#include "tests/cli/results.hpp"
#include "tests/cli/scenario.hpp"

// The results contain the memory of a device, and a plan that does not fit is refused before anything is simulated.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// 10^6 parameters in 4 bytes, with gradients and momenta 12 MB; a sample keeps 4 kB.
constexpr std::string_view workload = R"(name: one-layer
input: [1, 1, 1000]
layers:
  - {name: fc, kind: dense, inputs: 1000, outputs: 1000}
)";

constexpr std::string_view scenario = R"(name: memories
platform: platform.yaml
workload: workload.yaml
training:
  ranks: 2
  input_copy: none
variants:
  small: {training.batch_per_rank: 1}
  large: {training.batch_per_rank: 1000}
  larger: {training.batch_per_rank: 100000}
)";

struct Bench : TempDir {
    /// Returns devices with this memory; empty: unknown.
    explicit Bench(const std::string& memory) {
        std::string platform{tiny_platform};
        const std::string before = "  reduction_rate";
        if (!memory.empty()) platform.insert(platform.find(before), "  memory: " + memory + "\n");
        write("platform.yaml", platform);
        write("workload.yaml", workload);
        write("scenario.yaml", scenario);
    }

    Outcome run(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {"run", "scenario.yaml", "--out", "out"});
        return run_in(*this, std::move(options));
    }
};

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("memory: the results say what a device holds, even if its capacity is unknown", "[memory]") {
    const Bench bench("");
    const Outcome outcome = bench.run({"--format", "json"});
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    const json results = json::parse(outcome.out)["results"];
    for (const auto& [number, samples] : {std::pair{0, 1}, std::pair{1, 1000}, std::pair{2, 100000}}) {
        const json& memory = results[static_cast<std::size_t>(number)]["memory"];
        for (const char* kind : {"weights_bytes", "gradients_bytes", "optimizer_bytes"}) CHECK(memory[kind] == 4000000);
        CHECK(memory["activations_bytes"] == 4000 * samples);
        CHECK(memory["total_bytes"] == 12000000 + 4000 * samples);
        CHECK(memory["device_bytes"].is_null());
        CHECK(memory["fraction"].is_null());
    }
    CHECK(holds(bench.run().out, "   12 MB\n"));
}

TEST_CASE("memory: every variant that does not fit is named with its numbers, and nothing is simulated", "[memory]") {
    const Bench bench("15999999 B");
    const Outcome outcome = bench.run();
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
    CHECK_FALSE(std::filesystem::exists(bench / "out"));
    const auto says = [](const char* variant, const char* total, const char* activations) {
        return std::string("scenario.yaml:4:1: error: variant '") + variant + "' needs " + total +
               " of memory, but 'tiny' has 16 MB: weights 4 MB, gradients 4 MB, optimizer 4 MB, activations " +
               activations + "\n    training:\n    ^\n";
    };
    CHECK(holds(outcome.err, says("large", "16 MB", "4 MB")));
    CHECK(holds(outcome.err, says("larger", "412 MB", "400 MB") + "  hint: reduce the samples in flight"));
    CHECK(holds(outcome.err, "  hint: put less of the model"));
    CHECK_FALSE(holds(outcome.err, "'small'"));
}

TEST_CASE("memory: a plan that fits to the last byte runs, and --allow-oom runs all and says so") {
    const Bench bench("16 MB");
    Outcome outcome = bench.run();
    CHECK(outcome.status == 3);
    CHECK_FALSE(holds(outcome.err, "'large'"));
    CHECK(holds(outcome.err, "'larger'"));
    outcome = bench.run({"--set", "training.batch_per_rank=1000"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    CHECK(holds(outcome.out, " 16 of 16 MB"));
    outcome = bench.run({"--allow-oom"});
    CHECK(outcome.status == 0);
    CHECK(holds(outcome.err, "note: larger: needs 412 MB of memory, but 'tiny' has 16 MB: "));
    CHECK(holds(outcome.out, " 412 of 16 MB"));
    // Memory decides whether a plan runs, not its time.
    const auto timed = [&](std::vector<std::string> options) {
        options.insert(options.end(), {"--set", "training.batch_per_rank=8", "--format", "json"});
        const json results = json::parse(bench.run(std::move(options)).out)["results"];
        REQUIRE(results.size() == 3);
        return number(results[0], "iteration_time_s");
    };
    CHECK(timed({"--allow-oom", "--set", "platform.device.memory=1 kB"}) == timed({}));
}

TEST_CASE("memory: a dry run reports the memory and refuses nothing", "[memory]") {
    const Bench bench("16 MB");
    const Outcome table = bench.run({"--dry-run"});
    CHECK(table.status == 0);
    CHECK(table.err.empty());
    CHECK(holds(table.out, "memory: 412 of 16 MB: weights 4 MB, gradients 4 MB, optimizer 4 MB, activations 400 MB\n"));
    const json runs = json::parse(bench.run({"--dry-run", "--format", "json"}).out)["dry_run"];
    CHECK(runs[1]["memory"]["total_bytes"] == 16000000);
    CHECK(runs[1]["memory"]["device_bytes"] == 16000000);
    CHECK(runs[1]["memory"]["fraction"] == 1.0);
    CHECK(runs[2]["memory"]["fraction"] == 25.75);
    const std::string csv = bench.run({"--dry-run", "--format", "csv"}).out;
    CHECK(holds(csv,
                ",why,memory_weights_bytes,memory_gradients_bytes,memory_optimizer_bytes,memory_activations_bytes,"
                "memory_total_bytes,memory_device_bytes,memory_fraction,fidelity,messages_simulated,"
                "simulation_memory_bytes,simulation_wall_time_s,times\n"));
    CHECK(holds(csv, ",4000000,4000000,4000000,4000000,16000000,16000000,1,message,"));
    const json alone = json::parse(run_in(bench, {"collective", "--platform", "platform.yaml", "--ranks", "4",
                                                  "--bytes", "1kB", "--dry-run", "--format", "json"})
                                       .out);
    CHECK(alone["dry_run"][0]["memory"].is_null());
}

TEST_CASE("memory: shipped scenarios fit into a P100's 16 GB, with room for what the model leaves out", "[memory]") {
    const std::string name = GENERATE("zhang-2021", "vgg-16-overlap", "frameworks", "yan-2024", "awan-2019-resnet-50");
    const Outcome outcome =
        run_program({.arguments = {"run", shipped("scenarios/" + name + ".yaml"), "--dry-run", "--format", "json"}});
    REQUIRE(outcome.status == 0);
    const json report = json::parse(outcome.out);
    for (const json& run : report["dry_run"]) {
        const json& memory = run["memory"];
        CHECK(number(memory, "activations_bytes") > 0);
        CHECK(number(memory, "total_bytes") < 8e9);
    }
}

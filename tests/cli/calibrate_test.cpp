#include <csignal>

#include "tests/cli/measured.hpp"

// Estimates unknown parameters of a cluster from measurements on it.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// The scenario without measurements, and a table of measurements.
struct TableBench : RingBench {
    TableBench() {
        write("ring.yaml",
              "platform: platform.yaml\n"
              "collective: {operation: allreduce, algorithm: ring, ranks: 2, bytes: 1 MB}\n");
    }

    void table(const std::vector<std::pair<int, int>>& rows, double off = 1) const {
        std::string text = "collective.ranks,collective.bytes,completion_time_s\n";
        for (const auto& [ranks, bytes] : rows)
            text += fmt::format("{},{} B,{}\n", ranks, bytes, off * ring_s(ranks, bytes, bandwidth_Bps, latency_s));
        write("times.csv", text);
    }

    static std::vector<std::string> with(std::vector<std::string> more) {
        more.insert(more.begin(), {"calibrate", "ring.yaml", "--measured", "times.csv"});
        return more;
    }
};

const std::string fit_bandwidth = "platform.fabric.bandwidth=0.1..50 GBps";
const std::string fit_latency = "platform.fabric.latency=0.1..50 us";

}  // namespace

TEST_CASE("calibrate: a table of times gives bandwidth and latency to a part in a million") {
    const TableBench bench;
    bench.table({{2, 800}, {4, 80'000}, {2, 8'000'000}, {8, 8'000'000}});
    const json report = bench.json_of(TableBench::with({"--fit", fit_bandwidth, "--fit", fit_latency}));
    REQUIRE(report.at("parameters").size() == 2);
    CHECK(report.at("parameters").at(0).at("value").get<double>() == Approx(2.5).epsilon(1e-6));
    CHECK(report.at("parameters").at(1).at("value").get<double>() == Approx(3).epsilon(1e-6));
    for (const json& row : report.at("rows")) {
        CHECK(row.at("role") == "calibrates");
        CHECK(row.at("error").get<double>() == Approx(0).margin(1e-6));
    }
}

TEST_CASE("calibrate: the last lines of the output can be pasted, and reproduce the measurements approximately") {
    const TableBench bench;
    bench.table({{2, 800}, {2, 8'000'000}});
    const std::vector<std::string> arguments = TableBench::with({"--fit", fit_bandwidth, "--fit", fit_latency});
    const Outcome outcome = run_in(bench, arguments);
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    const std::size_t line = outcome.out.rfind('\n', outcome.out.size() - 2) + 1;
    CHECK(outcome.out.compare(line, 35, "--set 'platform.fabric.bandwidth=2.") == 0);
    const json set = bench.json_of(arguments).at("set");
    const json run = bench.json_of({"run", "ring.yaml", "--set", set.at(0), "--set", set.at(1)});
    CHECK(run.at("results").at(0).at("points").at(0).at("completion_time_s").get<double>() ==
          Approx(ring_s(2, 1e6, TableBench::bandwidth_Bps, TableBench::latency_s)).epsilon(1e-6));
}

TEST_CASE("calibrate: CSV has a line for each parameter", "[memory]") {
    const TableBench bench;
    bench.table({{2, 8'000'000}});
    const Outcome outcome =
        run_in(bench, TableBench::with({"--fit", "platform.fabric.bandwidth=0.1..2 GBps", "--format", "csv"}));
    CHECK(outcome.out ==
          "key,value,unit,ending,percent_per_percent,relative_standard_error,least,most\n"
          "platform.fabric.bandwidth,2,GBps,at-most,,,0.1,2\n");
}

TEST_CASE("calibrate: parameters that measurements do not determine are not reported as found") {
    const TableBench bench;
    bench.table({{2, 8'000'000}, {4, 8'000'000}});
    const std::string device = "platform.device.flops=1..50 Tflops";
    const Outcome outcome = run_in(bench, TableBench::with({"--wide", "--fit", device, "--fit", fit_bandwidth}));
    CHECK(says(outcome.out, "not determined: the rows do not depend on it"));
    CHECK_FALSE(says(outcome.out, "--set 'platform.device"));
    CHECK(says(outcome.out, "--set 'platform.fabric.bandwidth"));
    bench.table({{2, 8'000'000}});
    CHECK(says(run_in(bench, TableBench::with({"--wide", "--fit", fit_latency, "--fit", fit_bandwidth})).out,
               "not determined: fewer rows than parameters"));
}

TEST_CASE("calibrate: measurements may be in the scenario or in a file, and rows outside the calibration are predicted",
          "[memory]") {
    const RingBench bench;
    const std::string rows = RingBench::row(2, 8'000'000, true) + RingBench::row(4, 8'000'000, false, 1 / 1.1);
    bench.scenario(RingBench::series(rows), RingBench::bandwidth);
    const json inside = bench.json_of({"calibrate", "ring.yaml", "--set", "platform.fabric.latency=3 us"});
    CHECK(inside.at("parameters").at(0).at("value").get<double>() == Approx(2.5).epsilon(1e-6));
    CHECK(inside.at("rows").at(1).at("role") == "predicted");
    CHECK(inside.at("rows").at(1).at("error").get<double>() == Approx(0.1).epsilon(1e-4));
    bench.write("others.yaml", "source: others\nfield: completion_time_s\nseries:\n" + RingBench::series(rows));
    const json beside = bench.json_of({"calibrate", "ring.yaml", "--measured", "others.yaml", "--fit", fit_bandwidth,
                                       "--set", "platform.fabric.latency=3 us"});
    CHECK(beside.at("source") == "others");
    CHECK(beside.at("parameters").at(0) == inside.at("parameters").at(0));
}

TEST_CASE("calibrate: invalid input is refused at its place", "[memory]") {
    const TableBench bench;
    bench.table({{2, 8'000'000}});
    const auto refused = [&](const std::vector<std::string>& more, const std::string& message) {
        const Outcome outcome = run_in(bench, TableBench::with(more));
        CAPTURE(outcome.err);
        CHECK(outcome.status == 3);
        CHECK(outcome.out.empty());
        CHECK(says(outcome.err, message));
    };
    refused({}, "times.csv:2:1: error: there are calibration rows, but no parameters");
    refused({"--fit", "platform.fabric.bandwith=1..2 GBps"}, "--fit:1:17: error: unknown key 'bandwith'");
    refused({"--fit", "platform.fabric.bandwidth=1..2"}, "--fit:1:1: error: 'bandwidth': 2 has no unit");
    bench.write("times.csv", "collective.ranks,completion_time\n2,1\n");
    refused({"--fit", fit_bandwidth}, "times.csv:1:18: error: results have no field 'completion_time'");
    CHECK(run_in(bench, {"calibrate", "ring.yaml", "--measured", "none.csv", "--fit", fit_bandwidth}).status == 3);
    CHECK(
        says(run_in(bench, {"calibrate", "ring.yaml"}).err, "ring.yaml:1:1: error: the scenario has no measurements"));
    CHECK(run_in(bench, {"calibrate"}).status == 2);
}

TEST_CASE("calibrate: Ctrl-C ends it and all processes that it has started", "[memory]") {
    const RingBench bench;
    std::string text{long_scenario};
    for (std::size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, SYNCLINE_SOURCE_DIR);
    bench.write("long.yaml", text);
    bench.write("times.csv", "training.batch_per_rank,throughput_samples_per_s\n32,1000\n");
    Invocation invocation{.arguments = {"calibrate", "long.yaml", "--measured", "times.csv", "--fit",
                                        "platform.fabric.bandwidth=1..100 Gbps"},
                          .directory = bench.path()};
    invocation.signal = Signal{SIGINT, 1.5, To::group};
    const Outcome outcome = run_program(invocation);
    CHECK(outcome.status == 130);
    CHECK_FALSE(outcome.left_behind);
}

TEST_CASE("calibrate: an interruption shows the best values so far, and without a terminal lines show the progress") {
    const RingBench bench;
    std::string text{long_scenario};
    for (std::size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, SYNCLINE_SOURCE_DIR);
    // The first parameter takes a moment, the second one hours.
    bench.write("long.yaml",
                text +
                    "measured:\n  source: nobody\n  field: throughput_samples_per_s\n  series:\n"
                    "    - over: [training.ranks]\n      rows:\n"
                    "        - {at: [2], value: 410, calibrates: true}\n"
                    "        - {at: [512], value: 100000, calibrates: true}\n  parameters:\n"
                    "    - {key: platform.fabric.bandwidth, unit: Gbps, least: 1, most: 100, rows: [base 2]}\n"
                    "    - {key: platform.fabric.latency, unit: us, least: 1, most: 100, rows: [base 512]}\n");
    Invocation invocation{.arguments = {"calibrate", "long.yaml"}, .directory = bench.path()};
    invocation.signal = Signal{SIGINT, 11, To::group};
    const Outcome outcome = run_program(invocation);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 130);
    CHECK(outcome.out.empty());
    CHECK_FALSE(outcome.left_behind);
    CHECK(outcome.after_signal_s < too_late_s);
    CHECK(says(outcome.err, " simulations, 10 s\n"));
    CHECK(says(outcome.err, "long, error "));
    CHECK(says(outcome.err, "interrupted: the best values so far, with an error of "));
    CHECK(says(outcome.err, " --set 'platform.fabric.bandwidth="));
}

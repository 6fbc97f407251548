#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Curves over sizes, selections and dry runs, as users call them.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// A message takes 2 us plus a nanosecond per byte.
struct Bench : TempDir {
    Bench() {
        write("platform.yaml", tiny_platform);
        write("workload.yaml", tiny_workload);
        write("selection.yaml",
              "name: mine\nrows:\n  - {operation: allreduce, below: 10 kB, algorithm: recursive-doubling}\n"
              "  - {operation: allreduce, algorithm: ring}\n");
    }

    Outcome collective(std::vector<std::string> options) const {
        options.insert(options.begin(), {"collective", "--platform", "platform.yaml", "--ranks", "8"});
        return run_in(*this, std::move(options));
    }
};

json answer_of(const Outcome& outcome) {
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.empty());
    return json::parse(outcome.out);
}

std::vector<std::string> plus(std::vector<std::string> options, const std::vector<std::string>& more) {
    options.insert(options.end(), more.begin(), more.end());
    return options;
}

}  // namespace

TEST_CASE("sweep: each size takes the time that it takes alone, in any order") {
    const Bench bench;
    const std::vector<std::string> how = GENERATE(
        std::vector<std::string>{"--algorithm", "ring"}, std::vector<std::string>{"--algorithm", "recursive-doubling"},
        std::vector<std::string>{"--algorithm", "pipelined-tree", "--segment", "1 kB"},
        std::vector<std::string>{"--algorithm", "parameter-server", "--servers", "3"},
        std::vector<std::string>{"--operation", "all-to-all"},
        std::vector<std::string>{"--operation", "neighbour-exchange", "--overlay", "ring"},
        std::vector<std::string>{"--selection", "selection.yaml"},
        std::vector<std::string>{"--algorithm", "ring", "--set", "platform.network.model=LV08"},
        std::vector<std::string>{"--algorithm", "ring", "--transport",
                                 "{send_overhead: 1 us, receive_overhead: 2 us, bandwidth: [{size: 1 kB, bandwidth: 1 "
                                 "MBps}, {size: 1 MB, bandwidth: 1 GBps}]}"});
    CAPTURE(how);
    const json sweep =
        answer_of(bench.collective(plus(how, {"--sweep", "bytes=1MB,0B,7B,100003B,7B", "--format", "json"})));
    REQUIRE(sweep["points"].size() == 5);
    const char* const sizes[] = {"1MB", "0B", "7B", "100003B", "7B"};
    for (std::size_t i = 0; i < 5; ++i) {
        const json alone = answer_of(bench.collective(plus(how, {"--bytes", sizes[i], "--format", "json"})));
        const json& point = sweep["points"][i];
        CAPTURE(sizes[i], point.dump());
        CHECK(point["bytes"] == alone["bytes"]);
        CHECK(point["completion_time_s"].get<double>() ==
              Approx(alone["completion_time_s"].get<double>()).epsilon(1e-9));
        CHECK(point["closed_form_s"] == alone["closed_form_s"]);
    }
}

TEST_CASE("sweep: columns are those of nccl-tests, in every format") {
    const Bench bench;
    const std::vector<std::string> options{"--sweep", "bytes=1kB..4kB"};
    const json sweep = answer_of(bench.collective(plus(options, {"--format", "json"})));
    CHECK(sweep["operation"] == "allreduce");
    CHECK(sweep["ranks"] == 8);
    REQUIRE(sweep["points"].size() == 3);
    std::uint64_t bytes = 1000;
    for (const json& point : sweep["points"]) {
        CHECK(point["bytes"] == bytes);
        const double seconds = point["completion_time_s"];
        CHECK(seconds == Approx(14 * (2e-6 + static_cast<double>(bytes) / 8 * 1e-9)).epsilon(1e-9));
        CHECK(point["algorithm_bandwidth_Bps"].get<double>() ==
              Approx(static_cast<double>(bytes) / seconds).epsilon(1e-12));
        CHECK(point["bus_bandwidth_Bps"].get<double>() ==
              Approx(static_cast<double>(bytes) / seconds * 14 / 8).epsilon(1e-12));
        CHECK(point["algorithm"] == "ring");
        bytes *= 2;
    }
    const Outcome csv = bench.collective(plus(options, {"--format", "csv", "--out", "out"}));
    CHECK(csv.out.rfind("bytes,completion_time_s,algorithm_bandwidth_Bps,bus_bandwidth_Bps,closed_form_s,algorithm,"
                        "operation,ranks,fabric,transport,nodes,device_time_s,cost,fidelity,messages_simulated,"
                        "messages_folded,folding_error_s,limited_by,notes\n1000,",
                        0) == 0);
    CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 4);
    CHECK(csv.out == read_file(bench / "out/collective.csv"));
    const Outcome table = bench.collective(options);
    CHECK(table.out == read_file(bench / "out/collective.txt"));
    // 14·(2 us + 125 ns) = 29.75 us, 33.6 MB/s.
    for (const char* word :
         {"size (B)", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "29.75", "0.034", "0.059", "ring"})
        CHECK(table.out.find(word) != std::string::npos);
}

TEST_CASE("sweep: bus bandwidth follows the definitions of nccl-tests, by operation") {
    const Bench bench;
    const std::pair<const char*, double> factors[] = {
        {"allreduce", 14.0 / 8},    {"reduce-scatter", 7.0 / 8}, {"allgather", 7.0 / 8}, {"all-to-all", 7.0 / 8},
        {"gather", 7.0 / 8},        {"scatter", 7.0 / 8},        {"broadcast", 1},       {"reduce", 1},
        {"neighbour-exchange", 1.0}};
    for (const auto& [operation, factor] : factors) {
        const json answer =
            answer_of(bench.collective({"--operation", operation, "--bytes", "1MB", "--format", "json"}));
        CAPTURE(operation);
        CHECK(answer["bus_bandwidth_Bps"].get<double>() ==
              Approx(answer["algorithm_bandwidth_Bps"].get<double>() * factor).epsilon(1e-12));
    }
}

TEST_CASE("sweep: a selection chooses for each size, and a dry run reports it without simulating", "[memory]") {
    const Bench bench;
    const std::vector<std::string> options{"--selection",      "selection.yaml", "--sweep",
                                           "bytes=9999B,10kB", "--format",       "json"};
    const json sweep = answer_of(bench.collective(options));
    CHECK(sweep["algorithm"] == "mine: recursive-doubling, ring");
    CHECK(sweep["points"][0]["algorithm"] == "recursive-doubling");
    CHECK(sweep["points"][1]["algorithm"] == "ring");
    const json dry = answer_of(bench.collective(plus(options, {"--dry-run"})))["dry_run"][0];
    CHECK(dry["ranks"] == 8);
    REQUIRE(dry["exchanges"].size() == 2);
    CHECK(dry["exchanges"][0]["algorithm"] == "recursive-doubling");
    CHECK(dry["exchanges"][0]["why"] == "row 1 of mine: below 10 kB");
    CHECK(dry["exchanges"][1]["algorithm"] == "ring");
    CHECK(dry["exchanges"][1]["why"] == "row 2 of mine: always");
    CHECK(dry["exchanges"][1]["protocol"].is_null());
    // So large a ring would take minutes to simulate.
    const Outcome large = run_program({.arguments = {"collective", "--platform", shipped("platforms/p100-25g.yaml"),
                                                     "--ranks", "20000", "--bytes", "1GB", "--dry-run"},
                                       .limit_s = 10});
    CHECK(large.status == 0);
    CHECK(large.out.find("`algorithm: ring`") != std::string::npos);
}

TEST_CASE("dry run of a training: it lists buckets with layers, times and choices, in every format", "[memory]") {
    const Bench bench;
    bench.write("scenario.yaml", std::string(tiny_scenario) +
                                     "  mine: {training: {selection: selection.yaml}}\n  alone: {training.ranks: 1}\n");
    const json report = answer_of(run_in(bench, {"run", "scenario.yaml", "--dry-run", "--format", "json"}));
    REQUIRE(report["dry_run"].size() == 5);
    const json& ring = report["dry_run"][0];
    CHECK(ring["variant"] == "ring");
    CHECK(ring["workload"] == "two-layers");
    REQUIRE(ring["exchanges"].size() == 2);
    // In the backward pass the second layer's 250001 parameters of 4 bytes come first.
    CHECK(ring["exchanges"][0]["bytes"] == 1'000'004);
    CHECK(ring["exchanges"][0]["layers"] == std::vector<std::string>{"second"});
    CHECK(ring["exchanges"][1]["bytes"] == 4000);
    CHECK(ring["exchanges"][0]["why"] == "`algorithm: ring`");
    // 8 samples of 2·(1e6 + 3e6) flops forward, 4·3e6 backward, at 1 Tflops.
    CHECK(ring["exchanges"][0]["ready_s"].get<double>() == Approx(64e-6 + 96e-6).epsilon(1e-6));
    const json& later = report["dry_run"][1];
    CHECK(later["exchanges"][0]["release_s"] == later["exchanges"][1]["release_s"]);
    CHECK(report["dry_run"][2]["exchanges"][0]["algorithm"] == "parameter-server");
    const json& mine = report["dry_run"][3]["exchanges"];
    CHECK(mine[0]["algorithm"] == "ring");
    CHECK(mine[1]["algorithm"] == "recursive-doubling");
    CHECK(report["dry_run"][4]["exchanges"].empty());

    // The run uses what the dry run lists.
    const json results = answer_of(run_in(bench, {"run", "scenario.yaml", "--format", "json"}))["results"];
    CHECK(results[3]["algorithm"] == "mine: ring, recursive-doubling");
    // Four ranks: 2N(N-1) messages of the ring, N lg N of recursive doubling.
    CHECK(results[3]["messages"] == 24 + 8);
    CHECK(results[3]["iteration_time_s"].get<double>() ==
          Approx(results[3]["closed_form"]["iteration_time_s"].get<double>()).epsilon(1e-6));

    const std::string table = run_in(bench, {"run", "scenario.yaml", "--dry-run"}).out;
    for (const char* word : {"row 1 of mine: below 10 kB", "second", "no exchange", "ready"})
        CHECK(table.find(word) != std::string::npos);
    const std::string csv = run_in(bench, {"run", "scenario.yaml", "--dry-run", "--format", "csv"}).out;
    CHECK(csv.rfind("variant,workload,ranks,operation,bytes,layers,ready_s,release_s,algorithm,protocol,why,memory_",
                    0) == 0);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 4 * 2);
}

TEST_CASE("sweep: a selected protocol is charged in the simulation and in the closed form", "[memory]") {
    const Bench bench;
    bench.write(
        "nccl.yaml",
        "rows: [{operation: allreduce, least_time: [{algorithm: ring, protocol: {name: LL, launch: 10 us, latency: "
        "{inside: 1 us, between: 3 us}, bandwidth_factor: 0.5}}, {algorithm: ring, protocol: {name: Slow, launch: "
        "1 s}}]}]\n");
    const json answer = answer_of(bench.collective({"--selection", "nccl.yaml", "--bytes", "8kB", "--format", "json"}));
    CHECK(answer["algorithm"] == "selection: ring/LL");
    CHECK(answer["closed_form_s"].get<double>() == Approx(10e-6 + 14 * (5e-6 + 2e-6)).epsilon(1e-6));
    // 14 steps of 2 us and 3 us, each with twice the kilobyte.
    CHECK(answer["completion_time_s"].get<double>() == Approx(10e-6 + 14 * (5e-6 + 2e-6)).epsilon(1e-6));
}

TEST_CASE("sweep: a scenario of exchanges alone has one curve for each variant", "[memory]") {
    const Bench bench;
    bench.write("curve.yaml",
                "name: curve\nplatform: platform.yaml\ncollective: {ranks: 4, sweep: {bytes: 1kB..2kB}}\nvariants:\n"
                "  ring: {}\n  mine: {collective.selection: selection.yaml}\n  one: {collective: {bytes: 8 B}}\n");
    CHECK(run_in(bench, {"check", "curve.yaml"}).out == "curve.yaml: a correct scenario\n");
    const json report = answer_of(run_in(bench, {"run", "curve.yaml", "--format", "json", "--out", "out"}));
    CHECK(report["name"] == "curve");
    REQUIRE(report["results"].size() == 3);
    CHECK(report["results"][0]["variant"] == "ring");
    CHECK(report["results"][0]["points"].size() == 2);
    CHECK(report["results"][1]["points"][1]["algorithm"] == "recursive-doubling");
    CHECK(report["results"][1]["points"][1]["completion_time_s"].get<double>() ==
          Approx(2 * (2e-6 + 2e-6)).epsilon(1e-9));
    CHECK(report["results"][2]["points"].size() == 1);
    const std::string csv = read_file(bench / "out/results.csv");
    CHECK(csv.rfind("variant,bytes,", 0) == 0);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 6);
    CHECK(read_file(bench / "out/results.txt").find("mine: allreduce, mine: recursive-doubling, 4 ranks") !=
          std::string::npos);
    const json wide =
        answer_of(run_in(bench, {"run", "curve.yaml", "--set", "collective.ranks=16", "--format", "json"}));
    CHECK(wide["results"][2]["ranks"] == 16);
    const json dry = answer_of(run_in(bench, {"run", "curve.yaml", "--dry-run", "--format", "json"}));
    CHECK(dry["dry_run"][1]["exchanges"][0]["why"] == "row 1 of mine: below 10 kB");
}

TEST_CASE("help names every operation and algorithm", "[memory]") {
    const std::string help = run_program({.arguments = {"collective", "--help"}}).out;
    for (const char* word : {"allreduce", "all-to-all", "neighbour-exchange", "recursive-doubling", "parameter-server",
                             "rabenseifner", "broadcast", "gossip"})
        CHECK(help.find(word) != std::string::npos);
}

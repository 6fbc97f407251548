#include <sys/resource.h>

#include <csignal>

#include "tests/cli/measured.hpp"

// A simulation that fails, or whose process is killed, leaves the results of the others.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// Three quick rows, and one between them that takes minutes.
struct LongBench : TempDir {
    LongBench() {
        std::string text{long_scenario};
        for (std::size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, SYNCLINE_SOURCE_DIR);
        write("long.yaml", text +
                               "measured:\n  source: nobody\n  series:\n    - over: [training.ranks]\n      rows:\n"
                               "        - {at: [2], value: 1}\n        - {at: [512], value: 1}\n"
                               "        - {at: [3], value: 1}\n        - {at: [4], value: 1}\n");
    }
};

/// The processes that simulate have this time; the quick rows take a fraction of a second.
constexpr rlim_t seconds = 2 * static_cast<rlim_t>(patience);

}  // namespace

TEST_CASE("validate: a row whose process is killed is named with the signal, and the others are printed") {
    const LongBench bench;
    const Limit limit(RLIMIT_CPU, seconds);
    const std::string reason = "long, row 'base 512': the simulation was killed by signal 24 (CPU time limit exceeded)";
    const Outcome table = run_in(bench, {"validate", "long.yaml", "--wide"});
    CAPTURE(table.out, table.err);
    CHECK(table.status == 1);
    CHECK(says(table.err, "error: " + reason));
    CHECK(says(table.out, "failed: " + reason));
    CHECK(says(table.out, "all: 3 predicted"));

    const Outcome outcome = run_in(bench, {"validate", "long.yaml", "--repeat", "2", "--format", "json"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    const json report = json::parse(outcome.out), rows = report.at("points").at(0).at("rows");
    REQUIRE(rows.size() == 4);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        CHECK(rows[row].at("predicted").is_null() == (row == 1));
        CHECK(rows[row].contains("failure") == (row == 1));
    }
    CHECK(says(rows[1].at("failure"), reason));
    CHECK(report.at("rows") == 3);

    const Outcome csv = run_in(bench, {"validate", "long.yaml", "--format", "csv", "--report", "page.html"});
    CHECK(csv.status == 1);
    CHECK(says(csv.out, ",settings,failure\n"));
    CHECK(says(csv.out, "throughput_samples_per_s,1,,,,predicted,,training.ranks=512,\"" + reason));
    CHECK(says(read_file(bench / "page.html"), reason));
}

TEST_CASE("validate: a scenario that cannot be calibrated leaves the others", "[memory]") {
    const RingBench bench;
    const std::string zero = "        - {at: [1, 8 B], value: 1, calibrates: true}\n";
    const std::string rows = RingBench::row(4, 16'000'000, false) + RingBench::row(8, 800'000, false);
    bench.scenario(RingBench::series(zero + rows), RingBench::bandwidth, "a.yaml");
    bench.scenario(RingBench::series(rows), "", "b.yaml");
    const Outcome outcome = run_in(bench, {"validate", "a.yaml", "b.yaml", "--format", "json"});
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(says(outcome.err, "error: a, row 'base 1/8 B': its 'completion_time_s' is 0"));
    const json report = json::parse(outcome.out);
    CHECK(report.at("points").size() == 1);
    CHECK(report.at("rows") == 2);
    CHECK(says(report.at("failed").at(0), "a, row 'base 1/8 B'"));
    CHECK(run_in(bench, {"validate", "a.yaml"}).out.empty());
}

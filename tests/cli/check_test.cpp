#include <algorithm>
#include <set>

#include "tests/cli/results.hpp"
#include "tests/cli/scenario.hpp"

// Tests `expect:` in a scenario, and `run --check`, which compares results with it. Mistakes are in
// tests/cases/expect.cases.

using namespace syncline::test;
using nlohmann::json;

namespace {

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

/// Four ranks, 2 us per message and 1 ns per byte. The ring sends 6 messages of a quarter, one after the other;
/// recursive doubling sends 2 of the whole buffer. 4000 B take 18 and 12 us, 8000 B 24 and 20 us.
constexpr std::string_view curves = R"(platform: platform.yaml
collective: {operation: allreduce, ranks: 4, sweep: {bytes: [4000 B, 8000 B]}}
variants:
  ring: {collective.algorithm: ring}
  doubling: {collective.algorithm: recursive-doubling}
)";

/// One rank sends nothing.
constexpr std::string_view alone = R"(platform: platform.yaml
workload: workload.yaml
training: {ranks: 1, input_copy: none}
)";

struct Bench : TempDir {
    Bench() {
        write("platform.yaml", tiny_platform);
        write("workload.yaml", tiny_workload);
    }

    /// The first item is in line 7 after `curves`, in line 5 after `alone`.
    void scenario(std::string_view text, const std::string& items) const {
        write("scenario.yaml", std::string(text) + "expect:\n" + items);
    }

    Outcome check(std::vector<std::string> options = {}) const {
        options.insert(options.begin(), {"run", "scenario.yaml", "--check"});
        return run_in(*this, std::move(options));
    }

    json checks() const { return json::parse(check({"--format", "json"}).out).at("checks"); }
};

/// Returns an item of the list, on one line.
std::string item(const std::string& keys) {
    return "  - {" + keys + ", source: arithmetic}\n";
}

const std::string ring_over_doubling = "variant: ring, over: doubling, field: completion_time_s, ";

}  // namespace

TEST_CASE("every scenario with expectations meets them") {
    std::set<std::string> checked;
    for (const fs::directory_entry& entry : fs::directory_iterator(shipped("scenarios"))) {
        if (entry.path().extension() != ".yaml" || !holds(read_file(entry.path()), "\nexpect:")) continue;
        const Outcome outcome =
            run_program({.arguments = {"run", entry.path().string(), "--check", "--format", "json"}, .limit_s = 120});
        CAPTURE(entry.path(), outcome.err);
        CHECK(outcome.status == 0);
        const json checks = json::parse(outcome.out).at("checks");
        CHECK_FALSE(checks.empty());
        for (const json& one : checks) {
            CAPTURE(one.dump());
            CHECK(one.at("ok") == true);
        }
        checked.insert(entry.path().stem().string());
    }
    for (const char* seed : {"awan-2019-allreduce", "awan-2019-resnet-50", "yan-2024", "zhang-2021"}) {
        CAPTURE(seed);
        CHECK(checked.count(seed) == 1);
    }
}

TEST_CASE("check: numbers, ratios and bounds are compared with the arithmetic", "[memory]") {
    const Bench bench;
    bench.scenario(curves,
                   item("variant: ring, field: completion_time_s, bytes: 4000 B, value: 18e-6, tolerance: 1e-12") +
                       item("variant: ring, field: completion_time_s, bytes: 8 kB, value: 24e-6, tolerance: 1e-12") +
                       item(ring_over_doubling + "bytes: 4 kB, value: 1.5, tolerance: 1e-9") +
                       item(ring_over_doubling + "bytes: 8 kB, value: 1.2, tolerance: 1e-9") +
                       item("variant: ring, field: ranks, bytes: 4 kB, value: 4, tolerance: 0") +
                       item(ring_over_doubling + "bytes: 4 kB, value: 1.6, tolerance: 10 %") +
                       item(ring_over_doubling + "bytes: 4 kB, least: 1.4") +
                       item(ring_over_doubling + "bytes: 4 kB, most: 1.6") +
                       item(ring_over_doubling + "bytes: 4 kB, least: 1.4, most: 1.6"));
    const Outcome outcome = bench.check();
    CAPTURE(outcome.out, outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    CHECK(count(outcome.out, "  ok  ") == 9);
    CHECK(count(outcome.out, "FAILED") == 0);
    const json checks = bench.checks();
    CHECK(checks.at(2).at("found").get<double>() == Approx(1.5).epsilon(1e-9));
    CHECK(checks.at(3).at("bytes") == 8000);
    CHECK(checks.at(5).at("tolerance").get<double>() == Approx(0.16));  // in the field's unit
    CHECK(checks.at(6).at("value").is_null());
    CHECK(checks.at(6).at("tolerance").is_null());
    CHECK(checks.at(6).at("least") == 1.4);
    CHECK(checks.at(6).at("most").is_null());
}

TEST_CASE("check: a missed expectation prints FAILED, exits with 1, and results are still written") {
    const Bench bench;
    bench.scenario(curves, item(ring_over_doubling + "bytes: 4 kB, value: 1.6, tolerance: 5 %") +
                               item(ring_over_doubling + "bytes: 4 kB, value: 1.4, tolerance: 0.05") +
                               item(ring_over_doubling + "bytes: 4 kB, least: 1.51") +
                               item(ring_over_doubling + "bytes: 4 kB, most: 1.49") +
                               item(ring_over_doubling + "bytes: 4 kB, least: 1, most: 1.49") +
                               item(ring_over_doubling + "bytes: 4 kB, least: 1.49"));
    const Outcome outcome = bench.check({"--out", "out"});
    CAPTURE(outcome.out, outcome.err);
    CHECK(outcome.status == 1);
    CHECK(outcome.err == "error: 5 of 6 expectations FAILED\n");
    CHECK(count(outcome.out, "FAILED") == 5);
    CHECK(count(outcome.out, "  ok  ") == 1);
    CHECK(read_file(bench / "out/results.txt") == outcome.out);
    const Outcome plain = run_in(bench, {"run", "scenario.yaml", "--format", "csv"});
    CHECK(plain.status == 0);
    CHECK(read_file(bench / "out/results.csv") == plain.out);
    CHECK(read_file(bench / "out/checks.csv") == bench.check({"--format", "csv"}).out);
    // The results are those of a run without --check, followed by the checks.
    json checked = json::parse(read_file(bench / "out/results.json"));
    REQUIRE(checked.erase("checks") == 1);
    CHECK(checked == json::parse(run_in(bench, {"run", "scenario.yaml", "--format", "json"}).out));
}

TEST_CASE("check: a field that is null or divided by zero meets no expectation", "[memory]") {
    const Bench bench;
    bench.scenario(alone, item("variant: base, field: messages, value: 0, tolerance: 0") +
                              item("variant: base, over: base, field: messages, least: 0") +
                              item("variant: base, field: links.0.utilisation, least: 0"));
    const json checks = bench.checks();
    REQUIRE(checks.size() == 3);
    CHECK(checks.at(0).at("ok") == true);
    for (const std::size_t missed : {1U, 2U}) {
        CHECK(checks.at(missed).at("found").is_null());
        CHECK(checks.at(missed).at("ok") == false);
    }
    CHECK(bench.check().status == 1);
}

TEST_CASE("check: fields in mappings and lists are found by their paths", "[memory]") {
    const Bench bench;
    bench.scenario(tiny_scenario, item("variant: ring, field: closed_form.iteration_time_s, least: 0") +
                                      item("variant: ring, field: links.0.utilisation, least: 0, most: 1") +
                                      item("variant: later, over: ring, field: iteration_time_s, least: 1"));
    const json report = json::parse(bench.check({"--format", "json"}).out);
    const json &checks = report.at("checks"), &ring = report.at("results").at(0);
    CHECK(checks.at(0).at("found") == ring.at("closed_form").at("iteration_time_s"));
    CHECK(checks.at(1).at("found") == ring.at("links").at(0).at("utilisation"));
    CHECK(checks.at(2).at("ok") == true);  // exchanging afterwards is never faster
}

TEST_CASE("check: a text in a field that may be empty is an error when it is found", "[memory]") {
    const Bench bench;
    bench.scenario(tiny_scenario, item("variant: ring, field: algorithm, least: 0"));
    const Outcome outcome = bench.check();
    CAPTURE(outcome.err);
    CHECK(outcome.status == 3);
    CHECK(holds(outcome.err, ":28: error: 'algorithm' is not a number\n"));
}

TEST_CASE("check: --set is noted, and expectations of what it removes are skipped") {
    const Bench bench;
    bench.scenario(curves, item("variant: ring, field: ranks, bytes: 4 kB, value: 4, tolerance: 0") +
                               item(ring_over_doubling + "bytes: 4 kB, least: 1"));
    const std::string note = "note: the expectations were written for the file without --set\n";
    const Outcome fewer = bench.check({"--set", "variants.doubling=~", "--format", "json"});
    CHECK(fewer.status == 0);
    CHECK(fewer.err == note +
                           "note: 1 of 2 expectations are skipped: --set or --variant removes their variant or "
                           "size\n");
    CHECK(json::parse(fewer.out).at("checks").size() == 1);
    const Outcome other = bench.check({"--set", "collective.ranks=8"});
    CHECK(other.status == 1);
    CHECK(other.err == note + "error: 1 of 2 expectations FAILED\n");
    const Outcome none = bench.check({"--set", "variants.ring=~"});
    CHECK(none.status == 3);
    CHECK(holds(none.err, "hint: --set or --variant removes the variants or sizes of all expectations in the file"));
    CHECK(bench.check({"--set", "expect=~"}).status == 3);
    const Outcome typed =
        bench.check({"--set", "expect=[{variant: ring, field: ranks, bytes: 8 kB, least: 5, source: me}]"});
    CHECK(typed.status == 1);
    // Without --check expectations have no effect.
    CHECK(run_in(bench, {"run", "scenario.yaml", "--set", "collective.sweep.bytes=1 kB"}).err.empty());
}

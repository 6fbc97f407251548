#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// `run --repeat N`, compared with N runs.

using namespace syncline::test;
using nlohmann::json;

namespace {

const std::vector<std::string> noisy{"--set", "training.jitter={ranks: 20 %, nodes: 5 %, messages: 30 %}", "--set",
                                     "training.iterations=5"};

/// Returns the output function of SplitMix64.
std::uint64_t split_mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

struct Repeated : TinyFiles {
    Outcome run(std::vector<std::string> options) const {
        options.insert(options.begin(), {"run", "scenario.yaml"});
        return run_in(*this, std::move(options));
    }
    std::string output(std::vector<std::string> options) const {
        options.insert(options.end(), noisy.begin(), noisy.end());
        const Outcome outcome = run(std::move(options));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    }
};

}  // namespace

TEST_CASE("repeat: mean and quantiles are those of the runs with each seed") {
    const Repeated tiny;
    constexpr int count = 11;
    std::vector<std::vector<double>> times_s(3);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t seed = i == 0 ? 5 : split_mix(5 + i * 0x9e3779b97f4a7c15);
        const json one = json::parse(tiny.output({"--format", "json", "--seed", std::to_string(seed)}));
        for (std::size_t variant = 0; variant < 3; ++variant) {
            times_s[variant].push_back(one["results"][variant]["iteration_time_s"]);
            CHECK_FALSE(one["results"][variant].contains("repeats"));
        }
    }
    const json all = json::parse(tiny.output({"--format", "json", "--seed", "5", "--repeat", "11"}));
    for (std::size_t variant = 0; variant < 3; ++variant) {
        const json& result = all["results"][variant];
        std::vector<double> sorted = times_s[variant];
        CHECK(result["iteration_time_s"] == sorted.front());
        std::sort(sorted.begin(), sorted.end());
        CHECK(result["repeats"] == count);
        CHECK(result["iteration_time_mean_s"] ==
              Approx(std::accumulate(sorted.begin(), sorted.end(), 0.0) / count).epsilon(1e-12));
        CHECK(result["iteration_time_median_s"] == sorted[5]);
        // Positions 0.5 and 9.5 of 11 values.
        CHECK(result["iteration_time_p05_s"] == Approx((sorted[0] + sorted[1]) / 2).epsilon(1e-12));
        CHECK(result["iteration_time_p95_s"] == Approx((sorted[9] + sorted[10]) / 2).epsilon(1e-12));
        CHECK(sorted.front() < sorted.back());
        CHECK(result["expected_slowest_s"] > result["expected_slowest_factor"].get<double>() * 1e-9);
        CHECK(result["expected_slowest_factor"] > 1);
    }
}

TEST_CASE("repeat: the bytes of every format do not depend on the number of jobs") {
    const Repeated tiny;
    for (const char* format : {"json", "csv", "table"}) {
        const std::string one = tiny.output({"--format", format, "--repeat", "4", "--jobs", "1"});
        CHECK(one == tiny.output({"--format", format, "--repeat", "4", "--jobs", "3"}));
        CHECK(one != tiny.output({"--format", format, "--repeat", "4", "--seed", "2"}));
        CHECK(tiny.output({"--format", format, "--repeat", "1"}) == tiny.output({"--format", format}));
    }
    const std::string csv = tiny.output({"--format", "csv", "--repeat", "2"});
    CHECK(csv.find(",repeats,iteration_time_mean_s,iteration_time_median_s,iteration_time_p05_s,iteration_time_p95_s,"
                   "expected_slowest_s,expected_slowest_factor,micro_batches_folded,limited_by,notes\n") !=
          std::string::npos);
    CHECK(tiny.run({"--format", "csv"}).out.find("repeats") == std::string::npos);
    CHECK(tiny.run({"--format", "csv"}).out.find("expected_slowest") == std::string::npos);
    const std::string table = tiny.output({"--repeat", "2", "--wide"});
    for (const char* heading : {" seeds ", " mean ", " median ", " 5 % ", " 95 % ", "slowest expected"})
        CHECK(table.find(heading) != std::string::npos);
}

TEST_CASE("repeat: each grid is simulated as itself with every seed, and the best has the shortest mean") {
    const TempDir folder;
    folder.write("grids.yaml",
                 "platform: p100-56g\nworkload: vgg-16\n"
                 "training: {ranks: 4, batch: 64, iterations: 2, jitter: 20 %, parallelism: {model: auto}}\n");
    const auto results = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {"run", "grids.yaml", "--format", "json"});
        const Outcome outcome = run_in(folder, std::move(options));
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return json::parse(outcome.out)["results"];
    };
    constexpr int count = 3;
    std::vector<double> sums_s(3);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t seed = i == 0 ? 5 : split_mix(5 + i * 0x9e3779b97f4a7c15);
        const json one = results({"--seed", std::to_string(seed)});
        REQUIRE(one.size() == 3);
        for (std::size_t grid = 0; grid < 3; ++grid) sums_s[grid] += one[grid]["iteration_time_s"].get<double>();
    }
    const json all = results({"--seed", "5", "--repeat", "3"});
    const auto best = std::min_element(sums_s.begin(), sums_s.end()) - sums_s.begin();
    for (std::size_t grid = 0; grid < 3; ++grid) {
        CAPTURE(all[grid]["variant"].get<std::string>());
        CHECK(all[grid]["repeats"] == count);
        CHECK(all[grid]["iteration_time_mean_s"] == Approx(sums_s[grid] / count).epsilon(1e-12));
        CHECK(all[grid]["best"] == (static_cast<std::ptrdiff_t>(grid) == best));
    }
}

TEST_CASE("repeat: without anything random the variant is simulated once and its quantiles are equal", "[memory]") {
    const Repeated tiny;
    const Outcome outcome = tiny.run({"--format", "json", "--repeat", "3"});
    REQUIRE(outcome.status == 0);
    CHECK(outcome.err.find("note: ring: nothing is random, so it is simulated only once") != std::string::npos);
    const json document = json::parse(outcome.out);
    for (const json& result : document["results"]) {
        CHECK(result["repeats"] == 1);
        for (const char* field : {"mean", "median", "p05", "p95"})
            CHECK(result[std::string("iteration_time_") + field + "_s"] == result["iteration_time_s"]);
    }
    // A random placement is random.
    const Outcome placed = tiny.run({"--repeat", "3", "--set", "training.placement=random"});
    CHECK(placed.err.find("nothing is random") == std::string::npos);
}

TEST_CASE("repeat: invalid numbers and combinations are refused", "[memory]") {
    const Repeated tiny;
    for (const char* number : {"0", "-1", "1.5", "many", "100001"}) {
        const Outcome outcome = tiny.run({"--repeat", number});
        CHECK(outcome.status == 2);
        CHECK(outcome.err.find("is not a whole number from 1 to 100000") != std::string::npos);
    }
    CHECK(tiny.run({"--repeat", "2", "--dry-run"}).status == 2);
    const Outcome jobs = tiny.run({"--jobs", "2"});
    CHECK(jobs.status == 0);  // `parallelism: auto` has simulations, too
    const Outcome wrong = tiny.run({"--set", "training.jitter={ranks: 5 %, node: 2 %}"});
    CHECK(wrong.status == 3);
    CHECK(wrong.err.find("unknown key 'node'") != std::string::npos);
    CHECK(wrong.err.find("did you mean 'nodes'?") != std::string::npos);
    const Outcome folded = tiny.run({"--set", "training.jitter={messages: 5 %}", "--set", "training.fidelity=folded"});
    CHECK(folded.status == 3);
    CHECK(folded.err.find("no step repeats") != std::string::npos);
}

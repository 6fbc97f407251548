#include <cmath>

#include "tests/cli/results.hpp"

// Checks scenarios/mixtral-8x7b.yaml: all-to-alls of experts on rails and on a fat tree 2:1, with and without
// imbalance.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// Seconds of the four all-to-alls of each of 32 layers on rails: 1024 positions of a row's 8192, each for two experts,
/// of 4096 elements of 2 B, of which 7/8 leave a device by its own port of 400 Gb/s.
constexpr double rails_s = 32 * 4 * (8192 / 8 * 2 * 4096 * 2 * 7.0 / 8) / 50e9;

/// Returns the seconds of dispatch and combine on the critical path of 64 ranks, the ranks of one expert group.
double all_to_all_s(const std::string& variant) {
    const Outcome outcome = run_program({.arguments = {"explain", shipped("scenarios/mixtral-8x7b.yaml"), "--variant",
                                                       variant, "--set", "training.ranks=64", "--format", "json"},
                                         .limit_s = 300});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    const json explained = json::parse(outcome.out).at("explanations").at(0);
    double seconds = 0, share = 0, all = 0;
    for (const json& phase : explained.at("critical_path_phases")) {
        all += phase.at("share").get<double>();
        if (phase.at("phase") != "dispatch" && phase.at("phase") != "combine") continue;
        seconds += phase.at("seconds").get<double>();
        share += phase.at("share").get<double>();
    }
    CHECK(all == Approx(1));
    CHECK(share == Approx(seconds / explained.at("window_s").get<double>()));
    return seconds;
}

}  // namespace

TEST_CASE("mixtral-8x7b: half as many cables up cost time, and so do unequal loads, of the same messages") {
    const auto results = results_of("scenarios/mixtral-8x7b.yaml");
    REQUIRE(results.size() == 4);
    const auto time_s = [&](const char* variant) { return number(results.at(variant), "iteration_time_s"); };
    CHECK(time_s("rails") < time_s("fat-tree"));
    CHECK(time_s("rails") < time_s("rails-imbalance"));
    CHECK(time_s("fat-tree") < time_s("fat-tree-imbalance"));
    for (const auto& [variant, result] : results) {
        CAPTURE(variant);
        CHECK(result.at("messages") == results.at("rails").at("messages"));
        CHECK(result.at("parallelism").at("experts").get<int>() == 8);
        CHECK(result.at("parallelism").contains("expert_imbalance") == variant.ends_with("imbalance"));
    }
}

TEST_CASE("mixtral-8x7b: explain names the share of the all-to-alls, which rails carry at the speed of the ports") {
    // All ranks are alike, and nothing overlaps with them: the path goes through all of them. Latencies add a little.
    const double rails = all_to_all_s("rails");
    CHECK(rails >= rails_s);
    CHECK(rails <= rails_s * 1.03);
    // In the fat tree four of seven peers are below the other leaf: of eight blocks, four go up at half the speed.
    CHECK(all_to_all_s("fat-tree") >= rails_s * 8 / 7);
}

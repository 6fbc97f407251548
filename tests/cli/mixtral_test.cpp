#include <cmath>

#include "tests/cli/results.hpp"

// Checks scenarios/mixtral-8x7b.yaml: all-to-alls of experts on rails and on a fat tree 2:1, with and without
// imbalance.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// Bytes of the four all-to-alls of each of 32 layers that leave a device: 7/8 of 1024 positions of a row's 8192, each
/// for two experts, of 4096 elements of 2 B.
constexpr double sent_bytes = 32 * 4 * (8192 / 8 * 2 * 4096 * 2 * 7.0 / 8);

/// Seconds of these on rails, where a device has its own port of 400 Gb/s, 92 % of which are data. NCCL takes 8.4 us to
/// launch each of the 128, and 14 us for its messages.
constexpr double rails_s = sent_bytes / 50e9 / 0.92 + 32 * 4 * 22.4e-6;

/// Returns the seconds of dispatch and combine on the critical path of 64 ranks, the ranks of one expert group.
double all_to_all_s(const std::string& variant, const std::vector<std::string>& changes = {}) {
    std::vector<std::string> arguments{"explain",   shipped("scenarios/mixtral-8x7b.yaml"),
                                       "--variant", variant,
                                       "--set",     "training.ranks=64",
                                       "--format",  "json"};
    for (const std::string& change : changes) arguments.insert(arguments.end(), {"--set", change});
    const Outcome outcome = run_program({.arguments = arguments, .limit_s = 300});
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
    CHECK(all_to_all_s("fat-tree") >= sent_bytes / 50e9 / 0.92 * 8 / 7);
}

TEST_CASE("mixtral-8x7b: with whole experts on the eight ranks of a node, all-to-alls stay in it") {
    const std::vector<std::string> whole{"training.parallelism.experts.ranks=8", "training.parallelism.experts.model=1",
                                         "training.overlap=none"};
    constexpr double in_node_s = sent_bytes / 450e9 / 0.824 + 32 * 4 * 11.8e-6;
    const double rails = all_to_all_s("rails", whole);
    CHECK(rails >= in_node_s);
    CHECK(rails <= in_node_s * 1.1);
    CHECK(all_to_all_s("fat-tree", whole) == Approx(rails).epsilon(1e-6));
    for (const int ranks : {1, 8}) {
        CAPTURE(ranks);
        const std::string model = "training.parallelism.experts.model=" + std::to_string(ranks);
        const auto result =
            results_of("scenarios/mixtral-8x7b.yaml", {"--variant", "rails", "--set", whole.front(), "--set", model})
                .at("rails")
                .at("parallelism");
        CHECK(result.at("experts").get<int>() == 8);
        CHECK(result.contains("expert_model") == (ranks < 8));
        if (ranks < 8) CHECK(result.at("expert_model").get<int>() == ranks);
    }
    const Outcome refused =
        run_program({.arguments = {"run", shipped("scenarios/mixtral-8x7b.yaml"), "--variant", "rails", "--set",
                                   whole.front(), "--set", "training.parallelism.experts.model=3"},
                     .limit_s = 60});
    CHECK(refused.status == 3);
    CHECK(refused.err.find("8 rows cannot be divided into groups of 3") != std::string::npos);
    CHECK(refused.err.find("experts") != std::string::npos);
}

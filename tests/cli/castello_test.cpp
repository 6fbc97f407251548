#include <tuple>

#include "tests/cli/results.hpp"

// Checks scenarios/castello-2019.yaml against the results of Castelló et al., EuroMPI 2019.

using namespace syncline::test;

TEST_CASE("castello-2019: all expectations are met, and all have a value") {
    const Outcome outcome =
        run_program({.arguments = {"run", shipped("scenarios/castello-2019.yaml"), "--check"}, .limit_s = 60});
    CAPTURE(outcome.out, outcome.err);
    CHECK(outcome.status == 0);
}

TEST_CASE("castello-2019: closed forms equal the simulation, and are missing if ranks run ahead") {
    for (const auto& [variant, result] : results_of("scenarios/castello-2019.yaml")) {
        CAPTURE(variant);
        const auto& form = result.at("closed_form").at("iteration_time_s");
        const bool none =
            variant == "p-32-tree" || variant == "p-64" || variant == "p-64-padded" || variant == "p-64-spread";
        CHECK(form.is_null() == none);
        if (!form.is_null()) CHECK(number(result, "iteration_time_s") == Approx(form.get<double>()).epsilon(1e-6));
    }
}

TEST_CASE("castello-2019: with fewer contributors than receivers the gain is the loss of the padded ring") {
    // 128 samples of 96·55·55 outputs of the first layer, of which 48 of 64 ranks have two channels each, at 1 Gb/s.
    const double all_s = 4.0 * 128 * 96 * 55 * 55 * 8e-9;
    const auto results = results_of("scenarios/castello-2019.yaml");
    const auto time_s = [&](const char* variant) { return number(results.at(variant), "iteration_time_s"); };
    const double gain_s = time_s("p-64-padded") - time_s("p-64-spread");
    // The bounds are the longest time that it can take, and the time for what a rank without channels must receive.
    // Latencies and the last layer, of 4·128·1000 B, take less than 2 ms.
    CHECK(gain_s >= all_s * (63.0 / 48 - 1.0 / 48 - 63.0 / 64) - 2e-3);
    CHECK(gain_s <= all_s * (63.0 / 48 - 1) + 2e-3);
    CHECK(gain_s / time_s("p-64-padded") == Approx(0.068).margin(0.001));
    CHECK(time_s("p-64-spread") < time_s("p-64"));
}

TEST_CASE("castello-2019: AlexNet's part of the study over networks, machines and collectives meets its expectations") {
    const TempDir directory;
    const auto run = [&](std::vector<std::string> arguments) {
        const Outcome outcome =
            run_program({.arguments = std::move(arguments), .directory = directory.path(), .limit_s = 120});
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    };
    const std::string study = shipped("scenarios/studies/castello-2019.yaml");
    const auto points = nlohmann::json::parse(run({"batch", study, "--dry-run", "--format", "json"})).at("points");
    CHECK(points.size() == 4 * 3 * 3 * 2 * 3 * 3 * 2);
    for (const auto& point : points) CHECK(point.at("status") == "pending");  // all can be read

    run({"batch", study, "--out", "out", "--set", "workload=" + shipped("workloads/alexnet-nogroup.yaml"), "--set",
         "training.batch_per_rank=128", "--set", "platform.device.memory_bandwidth=50 GBps"});
    const std::string columns = "flops,bandwidth,ranks,allgather,iteration_time_s";
    std::map<std::tuple<std::string, std::string, int, std::string>, double> time_s;
    const auto rows =
        nlohmann::json::parse(run({"results", "out", "--format", "json", "--columns", columns})).at("points");
    for (const auto& row : rows)
        time_s[{row.at("flops"), row.at("bandwidth"), row.at("ranks"), row.at("allgather")}] =
            row.at("iteration_time_s");
    REQUIRE(time_s.size() == 3 * 3 * 3 * 2);
    const std::vector<std::string> flops{"0.5 Tflops", "4 Tflops", "32 Tflops"}, links{"1 Gbps", "10 Gbps", "100 Gbps"};
    for (const int ranks : {2, 8, 32}) {
        for (const std::string allgather : {"ring", "recursive-doubling"}) {
            for (std::size_t i = 0; i < 3; ++i) {
                for (std::size_t better = 1; better < 3; ++better) {
                    CHECK(time_s.at({flops[i], links[better], ranks, allgather}) <
                          time_s.at({flops[i], links[better - 1], ranks, allgather}));
                    CHECK(time_s.at({flops[better], links[i], ranks, allgather}) <=
                          time_s.at({flops[better - 1], links[i], ranks, allgather}));
                }
            }
        }
    }
    // The same points are in ../castello-2019.yaml, which derives their times.
    CHECK(time_s.at({"4 Tflops", "1 Gbps", 2, "ring"}) == Approx(2.640430525).epsilon(1e-6));
    CHECK(time_s.at({"4 Tflops", "1 Gbps", 32, "ring"}) == Approx(4.887942623).epsilon(1e-6));
    CHECK(time_s.at({"4 Tflops", "10 Gbps", 32, "ring"}) == Approx(0.673240953).epsilon(1e-6));
    CHECK(time_s.at({"4 Tflops", "1 Gbps", 32, "recursive-doubling"}) == Approx(4.887656623).epsilon(1e-6));
}

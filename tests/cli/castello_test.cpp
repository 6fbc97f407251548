#include "tests/cli/results.hpp"

// scenarios/castello-2019.yaml: what the card of Castelló et al., EuroMPI 2019, says must come out.

using namespace syncline::test;

TEST_CASE("castello-2019: all that is expected comes out, none of it without a value") {
    const Outcome outcome =
        run_program({.arguments = {"run", shipped("scenarios/castello-2019.yaml"), "--check"}, .limit_s = 60});
    CAPTURE(outcome.out, outcome.err);
    CHECK(outcome.status == 0);
}

TEST_CASE("castello-2019: closed forms are those of the simulation, or none where ranks run ahead") {
    for (const auto& [variant, result] : results_of("scenarios/castello-2019.yaml")) {
        CAPTURE(variant);
        const auto& form = result.at("closed_form").at("iteration_time_s");
        const bool none = variant == "p-32-tree" || variant == "p-64" || variant == "p-64-padded" || variant == "p-64-spread";
        CHECK(form.is_null() == none);
        if (!form.is_null()) CHECK(number(result, "iteration_time_s") == Approx(form.get<double>()).epsilon(1e-6));
    }
}

TEST_CASE("castello-2019: fewer contributors than receivers gain what the padded ring loses") {
    // 128 samples of 96·55·55 outputs of the first layer, of which 48 of 64 ranks have two channels each, at 1 Gb/s.
    const double all_s = 4.0 * 128 * 96 * 55 * 55 * 8e-9;
    const auto results = results_of("scenarios/castello-2019.yaml");
    const auto time_s = [&](const char* variant) { return number(results.at(variant), "iteration_time_s"); };
    const double gain_s = time_s("p-64-padded") - time_s("p-64-spread");
    // Against the longest that it can take, and against what a rank without channels has to receive; latencies, and the
    // last layer, of 4·128·1000 B, are less than 2 ms.
    CHECK(gain_s >= all_s * (63.0 / 48 - 1.0 / 48 - 63.0 / 64) - 2e-3);
    CHECK(gain_s <= all_s * (63.0 / 48 - 1) + 2e-3);
    CHECK(gain_s / time_s("p-64-padded") == Approx(0.068).margin(0.001));
    CHECK(time_s("p-64-spread") < time_s("p-64"));
}

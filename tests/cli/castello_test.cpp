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
        const bool none = variant == "p-32-tree" || variant == "p-64" || variant == "p-64-padded";
        CHECK(form.is_null() == none);
        if (!form.is_null()) CHECK(number(result, "iteration_time_s") == Approx(form.get<double>()).epsilon(1e-6));
    }
}

TEST_CASE("castello-2019: VGG-16, ResNet-50 and Inception-v3 lose by model parallelism alone on slow links, too") {
    const auto results = results_of("scenarios/castello-2019.yaml");
    for (const auto& [variant, result] : results) {
        if (variant == "one") continue;
        CAPTURE(variant);
        // All ranks work on the same samples: the efficiency is below a half where it does not pay.
        CHECK(number(result, "scaling_efficiency") < 0.5);
    }
}

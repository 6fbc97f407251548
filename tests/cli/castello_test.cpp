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

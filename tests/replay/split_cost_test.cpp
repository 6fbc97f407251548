#include "sim/analysis/theory.hpp"

#include "sim/analysis/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/replay/card_a.hpp"

// Compares closed forms of models that are split in other ways than in card_a_test.cpp with simulations.

using namespace syncline;
using namespace syncline::test;

namespace {

void equal(const Model& model, const Plan& plan, const Cluster& cluster) {
    const Result result = simulate(lower(cluster, model, plan));
    CAPTURE(plan.ranks, result.closed_form.formula);
    REQUIRE(result.closed_form.iteration_time_s);
    CHECK(result.time.iteration_s == Approx(*result.closed_form.iteration_time_s).epsilon(1e-6));
}

}  // namespace

TEST_CASE("split cost: convolutions by samples and the rest by rows are exact, with the transitions between them",
          "[memory]") {
    const Model model = shipped_model("alexnet-nogroup");
    for (const std::int64_t ranks : {2, 4, 8}) {
        Plan plan = card_plan(ranks, 32);
        plan.parallelism.layout.rows = 1;
        plan.parallelism.ranges = {{"fc6", "fc8", Layout{.rows = ranks}, {}}};
        equal(model, plan, CardMachine{}.cluster(ranks));
        plan.parallelism.layout.rows = ranks;
        plan.parallelism.ranges = {{"fc7", "fc8", Layout{.rows = 1}, {}}};
        equal(model, plan, CardMachine{}.cluster(ranks));
    }
}

TEST_CASE("split cost: halves of images exchange halos in step, and four parts, which do not, have no closed form",
          "[memory]") {
    const Model model = shipped_model("alexnet-nogroup");
    for (const bool by_height : {true, false}) {
        Plan plan = card_plan(4, 32);
        plan.parallelism.layout = by_height ? Layout{.height = 2} : Layout{.width = 2};
        equal(model, plan, CardMachine{}.cluster(4));
        plan.parallelism.layout = by_height ? Layout{.height = 4} : Layout{.width = 4};
        CHECK(!closed_form(lower(CardMachine{}.cluster(4), model, plan)).iteration_time_s);
    }
}

TEST_CASE("split cost: transformers by heads and hidden units are exact, with sequence parallelism and microbatches",
          "[memory]") {
    const Model model = shipped_model("gpt-2");
    for (const std::int64_t rows : {2, 4})
        for (const bool sequence : {false, true}) {
            Plan plan = card_plan(2 * rows, 2);
            plan.parallelism.layout.rows = rows;
            plan.parallelism.pipeline.micro_batches = 2;
            plan.parallelism.sequence = sequence;
            CAPTURE(sequence);
            equal(model, plan, CardMachine{}.cluster(2 * rows));
        }
}

TEST_CASE("split cost: reductions take time, and inputs are copied during the iteration or before it", "[memory]") {
    const Model model = shipped_model("alexnet-nogroup");
    Cluster cluster = CardMachine{}.cluster(8);
    cluster.device.reduction_Bps = 1e9;
    for (const double host_Bps : {1e6, 1e9})
        for (const InputCopy copy : {InputCopy::none, InputCopy::blocking, InputCopy::overlapped})
            for (const char* allreduce : {"ring", "rabenseifner", "recursive-doubling"}) {
                Plan plan = card_plan(8, 32);
                plan.parallelism.layout.rows = 4;
                plan.iterations = 2;
                plan.input_copy = copy;
                plan.parallelism.algorithms.allreduce = allreduce;
                cluster.device.host_link_Bps = host_Bps;
                CAPTURE(host_Bps, allreduce);
                equal(model, plan, cluster);
            }
}

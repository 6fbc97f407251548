#include "sim/analysis/scaling.hpp"
#include "sim/analysis/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"
#include "tests/replay/training_worlds.hpp"

// Scaling efficiency: weak with `batch_per_rank`, strong with `batch`.

using namespace syncline;
using namespace syncline::test;

namespace {

bool says(const std::vector<std::string>& notes, const std::string& part) {
    for (const std::string& note : notes)
        if (note.find(part) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("scaling: 64 ranks that are 3.2 times as fast on the same batch have a strong-scaling efficiency of 5 %",
          "[memory]") {
    // A sample takes 1 ms, so 64 take 64 ms on one rank. 64 ranks take one each, and a ring 2·63 steps of 1 MB in 19
    // ms.
    const double bandwidth_Bps = 2 * 63 * 1e6 / 19e-3;
    const Cluster cluster = plain_star(bandwidth_Bps, 0);
    Model model;
    model.layers = {layer_of(64'000'000, 500)};
    Plan plan;
    plan.ranks = 64;
    plan.batch_per_rank = 1;
    plan.scaling = Scaling::strong;
    plan.input_copy = InputCopy::none;
    plan.algorithm.name = "ring";
    const Result strong = simulate(lower(cluster, model, plan));
    CHECK(strong.time.iteration_s == Approx(20e-3));
    CHECK(strong.scaling == Scaling::strong);
    CHECK(strong.scaling_efficiency.value() == Approx(3.2 / 64));
    // With one sample per rank, however many ranks: 1 ms on one rank.
    plan.scaling = Scaling::weak;
    const Result weak = simulate(lower(cluster, model, plan));
    CHECK(weak.scaling_efficiency.value() == Approx(1.0 / 20));
    plan.batch_per_rank = 19;
    CHECK(simulate(lower(cluster, model, plan)).scaling_efficiency.value() == Approx(19.0 / 38));
    plan.scaling = Scaling::strong;
    CHECK(simulate(lower(cluster, model, plan)).scaling_efficiency.value() == Approx(64 * 19.0 / (64 * 38)));
}

TEST_CASE(
    "scaling: two rows that each read half of the weights use their devices as well as one device does, not better",
    "[memory]") {
    // Two outputs, one for each row. Kernels wait for weights, whatever the batch: one rank reads W, W and twice W for
    // two layers' passes, a row half of each. Relative to one rank with half of the samples the efficiency would be 2.
    Cluster cluster = star_cluster(4, 1e15, 0);
    cluster.device.flops_per_s = 1e18;
    cluster.device.memory_Bps = 1e9;
    const Model model = plain_model(2, 1'000'000, 2);
    Plan plan;
    plan.ranks = 2;
    plan.batch_per_rank = 2;
    plan.input_copy = InputCopy::none;
    plan.algorithm.name = "ring";
    plan.parallelism.layout.rows = 2;
    const double whole_s = 5 * 4e6 / 1e9;
    for (const Scaling scaling : {Scaling::weak, Scaling::strong}) {
        plan.scaling = scaling;
        const Result result = simulate(lower(cluster, model, plan));
        CHECK(result.time.iteration_s == Approx(whole_s / 2).epsilon(1e-4));
        CHECK(result.scaling_efficiency.value() == Approx(1).epsilon(1e-4));
        CHECK(result.scaling_efficiency.value() <= 1);
    }
    // Two replicas of two rows: one rank processes a replica's batch (weak), or that of both (strong), in the same
    // time. Very little is exchanged.
    plan.ranks = 4;
    plan.scaling = Scaling::weak;
    CHECK(simulate(lower(cluster, model, plan)).scaling_efficiency.value() == Approx(1).epsilon(1e-4));
    plan.scaling = Scaling::strong;
    CHECK(simulate(lower(cluster, model, plan)).scaling_efficiency.value() == Approx(0.5).epsilon(1e-4));
}

TEST_CASE("scaling: no split is more efficient than one rank", "[memory]") {
    // Rows, parts of images, stages and microbatches of models that compute, move weights, or wait for kernels.
    int checked = 0;
    for (const double memory_Bps : {1e9, 1e15}) {
        for (const double kernel_s : {0.0, 1e-4}) {
            for (std::int64_t rows = 1; rows <= 4; rows *= 2) {
                for (std::int64_t stages = 1; stages <= 2; ++stages) {
                    Cluster cluster = star_cluster(16, 1e12, 0);
                    cluster.device.flops_per_s = 1e9;
                    cluster.device.memory_Bps = memory_Bps;
                    cluster.device.kernel_latency_s = kernel_s;
                    Model model;
                    for (int i = 0; i < 4; ++i) model.layers.push_back(dense("dense", 64, 64, false));
                    Plan plan;
                    plan.ranks = 2 * rows * stages;
                    plan.batch_per_rank = 4;
                    plan.input_copy = InputCopy::none;
                    plan.algorithm.name = "ring";
                    plan.parallelism.layout.rows = rows;
                    plan.parallelism.pipeline.stages = stages;
                    plan.parallelism.pipeline.micro_batches = 2 * stages;
                    for (const Scaling scaling : {Scaling::weak, Scaling::strong}) {
                        plan.scaling = scaling;
                        CAPTURE(memory_Bps, kernel_s, rows, stages, static_cast<int>(scaling));
                        const double efficiency = simulate(lower(cluster, model, plan)).scaling_efficiency.value();
                        CHECK(efficiency <= 1 + 1e-9);
                        CHECK(efficiency > 0);
                        ++checked;
                    }
                }
            }
        }
    }
    CHECK(checked == 48);
}

TEST_CASE("scaling: notes say if one rank could not hold the reference, or if there is no efficiency", "[memory]") {
    Cluster cluster = star_cluster(8, 1e9, 0);
    cluster.device.flops_per_s = cluster.device.memory_Bps = 1e12;
    // 4 MB of weights, and the same for gradients and for momentum; a sample keeps 4 MB.
    cluster.device.memory_bytes = 20e6;
    const Model model = plain_model(1, 1'000'000, 1'000'000);
    Plan plan;
    plan.ranks = 8;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    plan.algorithm.name = "ring";
    CHECK(!says(simulate(lower(cluster, model, plan)).notes, "does not fit"));
    plan.scaling = Scaling::strong;
    const Result strong = simulate(lower(cluster, model, plan));
    CHECK(strong.scaling_efficiency);
    CHECK(says(strong.notes, "one rank and a batch of 8, which does not fit into its device's memory: 44 MB of 20 MB"));

    // 12 MB of weights, gradients and momentum alone.
    cluster.device.memory_bytes = 11e6;
    const Result too_large = simulate(lower(cluster, model, plan));
    CHECK(!too_large.scaling_efficiency);
    CHECK(!says(too_large.notes, "efficiency"));

    Model nothing;
    nothing.layers = {{"nothing", 0, 0, 0, 0}};
    const Result none = simulate(lower(cluster, nothing, plan));
    CHECK(!none.scaling_efficiency);
    CHECK(says(none.notes, "no scaling efficiency"));
}

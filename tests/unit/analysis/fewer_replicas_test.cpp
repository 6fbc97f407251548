#include "sim/analysis/fewer_replicas.hpp"

#include <vector>

#include "sim/lowering/device_memory.hpp"
#include "sim/platform/cluster.hpp"
#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Trainings that go on without some of their nodes.

using namespace syncline;

namespace {

/// Returns a cluster of so many nodes with two devices each.
Cluster of_pairs(std::int64_t nodes) {
    Cluster cluster = star_cluster(nodes, 1e9, 1e-6);
    cluster.node.devices = 2;
    return cluster;
}

Plan of_ranks(std::int64_t ranks, std::int64_t batch_per_rank, Elastic elastic) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = batch_per_rank;
    plan.scaling = Scaling::strong;
    plan.input_copy = InputCopy::none;
    plan.run.checkpoint.repairs.elastic = elastic;
    return plan;
}

Lowered of(const Plan& plan, std::int64_t nodes) {
    return lower(of_pairs(nodes), test::shipped_model("gpt-2"), plan);
}

/// Takes 7 s, and 3 s for each sample of a replica; counts what is simulated.
struct Affine {
    std::vector<std::int64_t> simulated = {};

    IterationOf of() {
        return [this](const Lowered& training) {
            simulated.push_back(training.plan.ranks);
            return Iteration{7 + 3 * static_cast<double>(training.plan.batch_per_rank), 100};
        };
    }
};

}  // namespace

TEST_CASE("fewer replicas: whole ones of the nodes that are left share the batch") {
    Affine affine;
    const Lowered training = of(of_ranks(8, 6, Elastic::same_batch), 4);  // 48 samples
    const FewerReplicas fewer(training, affine.of(), 0);
    CHECK(fewer.replicas(0) == 8);
    CHECK(fewer.replicas(1) == 6);
    CHECK(fewer.replicas(3) == 2);
    CHECK(fewer.replicas(4) == 0);
    CHECK(fewer.pace(1)->iteration_s == 7 + 3 * 8);
    CHECK(fewer.pace(1)->running == 0.75);
    CHECK(fewer.pace(2)->iteration_s == 7 + 3 * 12);
    CHECK(!fewer.pace(4));
    CHECK(affine.simulated == std::vector<std::int64_t>{6, 4});
    CHECK(fewer.pace(1)->iteration_s == 7 + 3 * 8);
    CHECK(affine.simulated.size() == 2);  // each once
}

TEST_CASE("fewer replicas: a batch that does not divide takes the time of the fullest replica") {
    CHECK(with_replicas(of_ranks(8, 6, Elastic::same_batch), 7).batch_per_rank == 7);  // 48 / 7 = 6.9
    CHECK(with_replicas(of_ranks(8, 6, Elastic::same_batch), 5).batch_per_rank == 10);
    // 4 replicas of 2 stages with 6 microbatches of 3 samples: 24 microbatches among 3 are 8, among 2 are 12.
    Plan plan = of_ranks(8, 18, Elastic::same_batch);
    plan.parallelism.pipeline.stages = 2;
    plan.parallelism.pipeline.micro_batches = 6;
    CHECK(with_replicas(plan, 3).ranks == 6);
    CHECK(with_replicas(plan, 3).parallelism.pipeline.micro_batches == 8);
    CHECK(with_replicas(plan, 3).batch_per_rank == 24);
    // With 5 of 3 samples, 20 among 3 are 7; interleaved stages take turns in pairs: 8.
    plan.batch_per_rank = 15;
    plan.parallelism.pipeline.micro_batches = 5;
    CHECK(with_replicas(plan, 3).parallelism.pipeline.micro_batches == 7);
    plan.parallelism.pipeline.schedule = PipelineSchedule::interleaved;
    CHECK(with_replicas(plan, 3).parallelism.pipeline.micro_batches == 8);
    plan.run.checkpoint.repairs.elastic = Elastic::smaller_batch;
    CHECK(with_replicas(plan, 3).parallelism.pipeline.micro_batches == 5);
    CHECK(with_replicas(plan, 3).batch_per_rank == 15);
}

TEST_CASE("fewer replicas: a part of the batch that is too large for memory takes several passes") {
    Plan plan = of_ranks(8, 6, Elastic::same_batch);
    Cluster cluster = of_pairs(4);
    const Model model = test::shipped_model("gpt-2");
    // There is room for the 6 samples of a replica, and not for 8.
    const Memory memory = memory_of(lower(cluster, model, plan));
    cluster.device.memory_bytes = cluster.device.reserve_bytes + memory.total_bytes() + memory.activations_bytes / 10;
    std::vector<std::int64_t> passes, samples;
    const Lowered training = lower(cluster, model, plan);
    REQUIRE(memory_of(training).fits());
    const FewerReplicas fewer(
        training,
        [&](const Lowered& few) {
            passes.push_back(few.plan.parallelism.pipeline.micro_batches);
            samples.push_back(few.plan.batch_per_rank);
            return Iteration{1, 0};
        },
        0);
    // Of 48 samples 6 replicas take 8 each, in 2 passes, and 2 replicas 24 in 4.
    CHECK(fewer.pace(1));
    CHECK(fewer.pace(3));
    CHECK(passes == std::vector<std::int64_t>{2, 4});
    CHECK(samples == std::vector<std::int64_t>{8, 24});
}

TEST_CASE("fewer replicas: replicas that span nodes lose only as many as the lacking nodes make") {
    // Four replicas of four rows on eight nodes: two nodes each.
    Plan plan = of_ranks(16, 8, Elastic::smaller_batch);
    plan.parallelism.layout.rows = 4;
    Affine affine;
    const Lowered training = of(plan, 8);
    const FewerReplicas fewer(training, affine.of(), 0);
    CHECK(fewer.replicas(1) == 3);
    CHECK(fewer.replicas(2) == 3);
    CHECK(fewer.replicas(3) == 2);
    CHECK(fewer.replicas(7) == 0);
    // Each keeps its 8 samples: 3 replicas take 4/3 iterations for the samples of all.
    CHECK(fewer.pace(2)->iteration_s == Approx((7 + 3 * 8) * 4.0 / 3));
    CHECK(fewer.pace(2)->running == 0.75);
}

TEST_CASE("fewer replicas: between powers of two nothing is simulated") {
    Affine affine;
    Cluster cluster = star_cluster(64, 1e9, 1e-6);
    const Lowered training = lower(cluster, test::shipped_model("gpt-2"), of_ranks(64, 32, Elastic::same_batch));
    const FewerReplicas fewer(training, affine.of(), 0);
    for (std::int64_t missing = 1; missing <= 16; ++missing) {
        CAPTURE(missing);
        const std::int64_t left = 64 - missing, samples = (64 * 32 + left - 1) / left;
        CHECK(fewer.pace(missing)->iteration_s == Approx(7 + 3 * static_cast<double>(samples)));
    }
    CHECK(affine.simulated == std::vector<std::int64_t>{63, 62, 61, 60, 56, 48});
}

TEST_CASE("fewer replicas: energy counts above the idle power of the nodes in use") {
    Affine affine;
    const Lowered training = of(of_ranks(8, 6, Elastic::smaller_batch), 4);
    const FewerReplicas fewer(training, affine.of(), 0.5);
    // Three nodes take 1.5 W for 25 s, and 100 J in all, for 3/4 of an iteration.
    CHECK(fewer.pace(1)->above_idle_J == Approx((100 - 1.5 * 25) * 4.0 / 3));
}

TEST_CASE("fewer replicas: numbers that the plan does not allow are passed over") {
    // Groups of four ranks divide the state.
    Plan plan = of_ranks(16, 4, Elastic::same_batch);
    plan.parallelism.sharding = Sharding::parameters;
    plan.parallelism.shard_ranks = 4;
    Affine affine;
    const Lowered training = of(plan, 8);
    const FewerReplicas fewer(training, affine.of(), 0);
    CHECK(fewer.replicas(1) == 12);
    CHECK(fewer.replicas(2) == 12);
    CHECK(fewer.replicas(3) == 8);
}

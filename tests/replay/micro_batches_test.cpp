#include "sim/analysis/micro_batches.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/even_worlds.hpp"
#include "tests/replay/random_plans.hpp"
#include "tests/replay/same_result.hpp"

// Compares simulations of a few microbatches, continued, with those of all.

using namespace syncline;

namespace {

/// Nodes with two devices and one port each.
Cluster cluster_of(std::int64_t ranks, double bandwidth_Bps) {
    return nodes_of((ranks + 1) / 2, 2, 1, bandwidth_Bps);
}

Model layers_of(Chance& chance, std::size_t layers) {
    return even_layers(chance, layers, 16, 9);
}

ReplayedIteration message_by_message(const Cluster& cluster, const Model& model, Plan plan) {
    plan.fidelity = Fidelity::message;
    return replay_iteration(lower(cluster, model, plan));
}

ReplayedIteration folded(const Cluster& cluster, const Model& model, Plan plan) {
    plan.fidelity = Fidelity::folded;
    return replay_representatives(lower(cluster, model, plan));
}

}  // namespace

TEST_CASE("microbatches that repeat are simulated with few of them, whatever the plan divides and overlaps") {
    Chance chance(11);
    int folds = 0;
    constexpr int worlds = 60;
    for (int world = 0; world < worlds; ++world) {
        const std::int64_t stages = 1 + chance.below(4), rows = chance.of<std::int64_t>({1, 1, 2});
        const std::int64_t replicas = chance.of<std::int64_t>({1, 2, 4});
        Plan plan = pipeline_of(stages, rows * replicas, 24 * (1 + chance.below(3)));
        plan.batch_per_rank *= 1 + chance.below(2);
        plan.iterations = chance.of<std::int64_t>({1, 1, 2, 3});
        Parallelism& parallelism = plan.parallelism;
        Pipeline& pipeline = parallelism.pipeline;
        parallelism.layout.rows = rows;
        pipeline.schedule = chance.of<PipelineSchedule>(
            {PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved, PipelineSchedule::zero_bubble_h1});
        if (pipeline.schedule == PipelineSchedule::interleaved && stages > 1) pipeline.virtual_stages = 2;
        pipeline.transfers = chance.of<Transfers>({Transfers::as_schedule, Transfers::blocking, Transfers::overlapped});
        parallelism.sharding =
            chance.of<Sharding>({Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters});
        plan.recomputation = chance.of<Recomputation>({Recomputation::none, Recomputation::full});
        plan.overlap = chance.of<Overlap>({Overlap::none, Overlap::wait_free});
        plan.fusion.threshold_bytes = chance.of<double>({0, 2000});
        if (stages == 1)
            parallelism.gradient_sync =
                chance.of<GradientSync>({GradientSync::automatic, GradientSync::each_micro_batch});
        if (chance.below(3) == 0) {
            plan.noise.stragglers.ranks = {chance.below(static_cast<std::uint32_t>(plan.ranks))};
            plan.noise.stragglers.slowdown = chance.of<double>({1.01, 1.3});
        }
        const double bandwidth_Bps = chance.of<double>({1e6, 3e7, 1e9});
        INFO(fmt::format(
            "world {}: {} stages of {} rows and {} replicas, {} microbatches, schedule {}, transfers {}, "
            "sharding {}, recomputation {}, overlap {}, {} iterations, {} B/s",
            world, stages, rows, replicas, pipeline.micro_batches, static_cast<int>(pipeline.schedule),
            static_cast<int>(pipeline.transfers), static_cast<int>(parallelism.sharding),
            static_cast<int>(plan.recomputation), static_cast<int>(plan.overlap), plan.iterations, bandwidth_Bps));
        const Cluster cluster = cluster_of(plan.ranks, bandwidth_Bps);
        const Model model = layers_of(chance, 8);
        const ReplayedIteration some = folded(cluster, model, plan);
        check_same_result(message_by_message(cluster, model, plan), some);
        CHECK(some.folded.messages_simulated + some.folded.messages_folded == some.timeline.messages);
        CHECK(some.folded.messages_folded <= some.timeline.messages);
        folds += some.folded.micro_batches_folded > 0;
    }
    WARN(fmt::format("{} of {} worlds have folded microbatches", folds, worlds));
    CHECK(folds > worlds / 3);
}

TEST_CASE("microbatches of random plans are folded within the bound of folding") {
    int folds = 0, plans = 0;
    for (std::uint64_t seed = 0; plans < 40; ++seed) {
        RandomPlan random = random_plan(seed);
        Pipeline& pipeline = random.plan.parallelism.pipeline;
        if (random.plan.ranks > 16 || (pipeline.micro_batches == 1 && pipeline.stages == 1)) continue;
        const std::int64_t more = 30 / pipeline.micro_batches;
        pipeline.micro_batches *= more;
        random.plan.batch_per_rank *= more;
        INFO(random.words());
        ++plans;
        const ReplayedIteration all = message_by_message(random.cluster, random.model, random.plan);
        const ReplayedIteration some = folded(random.cluster, random.model, random.plan);
        CHECK(std::abs(some.time.iteration_s - all.time.iteration_s) <= some.folded.error_s);
        CHECK(some.timeline.messages == all.timeline.messages);
        CHECK(some.timeline.bytes_sent == all.timeline.bytes_sent);
        CHECK(some.timeline.sent_by == all.timeline.sent_by);
        folds += some.folded.micro_batches_folded > 0;
    }
    WARN(fmt::format("{} of {} plans have folded microbatches", folds, plans));
    CHECK(folds > plans / 8);
}

TEST_CASE("microbatches: a pipeline with a thousand of them takes the textbook's time, from two short simulations",
          "[memory]") {
    constexpr std::int64_t stages = 4, micro_batches = 1000;
    Chance chance(3);
    const Model model = layers_of(chance, stages);
    Cluster cluster = star_cluster(stages, 1e30, 0);
    cluster.device.flops_per_s = 2e9;
    cluster.device.memory_Bps = 1e30;
    const auto time = [&](std::int64_t count) {
        Plan plan = pipeline_of(stages, 1, count);
        plan.parallelism.pipeline.layers = {1, 1, 1, 1};
        const ReplayedIteration replayed = folded(cluster, model, plan);
        CHECK((replayed.folded.micro_batches_folded > micro_batches / 2) == (count == micro_batches));
        return replayed.time;
    };
    // Without transfers the first microbatch takes the time of all stages, and each further one that of the slowest.
    const double one_s = time(1).iteration_s, slowest_s = time(2).iteration_s - one_s;
    const Breakdown all = time(micro_batches);
    CHECK(all.iteration_s == Approx(one_s + (micro_batches - 1) * slowest_s).epsilon(1e-9));
    CHECK(*all.pipeline_bubble == Approx(1 - micro_batches * one_s / (stages * all.iteration_s)).epsilon(1e-6));
}

TEST_CASE("microbatches are not folded that are few, are in two places, take random times, or are asked for",
          "[memory]") {
    Chance chance(4);
    const Model model = layers_of(chance, 4);
    const Cluster cluster = cluster_of(4, 1e8);
    const auto folds = [&](const Plan& plan) { return folded(cluster, model, plan).folded.micro_batches_folded > 0; };
    const Plan plan = pipeline_of(2, 2, 40);
    CHECK(folds(plan));
    CHECK_FALSE(folds(pipeline_of(2, 2, 18)));
    Plan gpipe = plan;
    gpipe.parallelism.pipeline.schedule = PipelineSchedule::gpipe;
    CHECK_FALSE(folds(gpipe));
    Plan random = plan;
    random.noise.jitter = 0.1;
    CHECK_FALSE(folds(random));
    Plan message = plan;
    message.fidelity = Fidelity::message;
    CHECK(replay_representatives(lower(cluster, model, message)).folded.micro_batches_folded == 0);
    message.fidelity = Fidelity::automatic;
    CHECK(replay_representatives(lower(cluster, model, message)).folded.micro_batches_folded == 0);
}

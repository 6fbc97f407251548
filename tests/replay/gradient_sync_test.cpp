#include <algorithm>
#include <random>
#include <vector>

#include "sim/analysis/dry_run.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/work.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Gradients that are exchanged after each microbatch, or after the last one. A microbatch whose gradients are
// exchanged ends like an iteration, so that m of them take m iterations of one, whose own times other tests compare
// with their forms.

using namespace syncline;

namespace {

constexpr Star star{1e9, 5e-6};
constexpr std::int64_t weight_element_bytes = 4, gradient_element_bytes = 2;

const std::vector<Sharding> shardings{Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters};

struct World : TimedWorld {
    double parameters() const {
        std::int64_t sum = 0;
        for (const Layer& layer : model.layers) sum += layer.parameters;
        return static_cast<double>(sum);
    }
};

/// The parameters of a layer are a multiple of `unit`. `scale` is that of the times of its passes.
World world_of(std::mt19937& random, std::int64_t ranks, std::size_t layers, std::int64_t unit, double scale = 1) {
    World world{timed_world(random, star, ranks, layers, unit, 100, scale)};
    world.cluster.device.reduction_Bps = 2e10;
    return world;
}

/// A microbatch has one sample.
Plan plan_of(std::int64_t ranks, Sharding sharding, std::int64_t micro_batches,
             GradientSync sync = GradientSync::automatic) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = micro_batches;
    plan.compute = ComputeKind::measured;
    plan.iterations = 2;
    plan.input_copy = InputCopy::none;
    plan.algorithm.name = "ring";
    plan.precision.weights = weight_element_bytes;
    plan.precision.gradients = gradient_element_bytes;
    plan.parallelism.sharding = sharding;
    plan.parallelism.gradient_sync = sync;
    plan.parallelism.pipeline.micro_batches = micro_batches;
    return plan;
}

double iteration_s(const World& world, const Plan& plan) {
    return replay_iteration(lower(world.cluster, world.model, plan)).time.iteration_s;
}

}  // namespace

TEST_CASE("gradient sync: m microbatches take m iterations of one, and updated weights are gathered once", "[memory]") {
    std::mt19937 random(3);
    for (const Overlap overlap : {Overlap::none, Overlap::wait_free}) {
        for (const Sharding sharding : shardings) {
            for (const double scale : {0.1, 1.0}) {
                const std::int64_t ranks = 2 + static_cast<std::int64_t>(random() % 6);
                const World world = world_of(random, ranks, 1 + random() % 5, ranks, scale);
                double gathered_s = 0;
                for (const Layer& layer : world.model.layers)
                    gathered_s += star.ring_s(static_cast<double>(ranks),
                                              static_cast<double>(weight_element_bytes * layer.parameters));
                const bool gathers = sharding == Sharding::optimizer || sharding == Sharding::gradients;
                Plan one = plan_of(ranks, sharding, 1);
                one.overlap = overlap;
                const double one_s = iteration_s(world, one);
                for (const std::int64_t m : {2, 3, 5}) {
                    CAPTURE(static_cast<int>(overlap), static_cast<int>(sharding), scale, ranks, m);
                    Plan plan = plan_of(ranks, sharding, m, GradientSync::each_micro_batch);
                    plan.overlap = overlap;
                    const double count = static_cast<double>(m);
                    CHECK(iteration_s(world, plan) ==
                          Approx(count * one_s - (gathers ? (count - 1) * gathered_s : 0)).epsilon(1e-6));
                }
            }
        }
    }
}

TEST_CASE("gradient sync: so do hybrid shards, rows and recomputed layers", "[memory]") {
    std::mt19937 random(5);
    for (const Overlap overlap : {Overlap::none, Overlap::wait_free}) {
        for (const Recomputation recomputation : {Recomputation::none, Recomputation::full}) {
            for (const std::int64_t rows : {1, 2}) {
                for (const bool hybrid : {false, true}) {
                    CAPTURE(static_cast<int>(overlap), static_cast<int>(recomputation), rows, hybrid);
                    const World world = world_of(random, 8, 4, 8);
                    Plan plan = plan_of(8, Sharding::parameters, 1);
                    plan.overlap = overlap;
                    plan.recomputation = recomputation;
                    plan.parallelism.layout.rows = rows;
                    if (hybrid) plan.parallelism.shard_ranks = 2;
                    const double one_s = iteration_s(world, plan);
                    plan.batch_per_rank = plan.parallelism.pipeline.micro_batches = 3;
                    CHECK(iteration_s(world, plan) == Approx(3 * one_s).epsilon(1e-6));
                    plan.parallelism.gradient_sync = GradientSync::last_micro_batch;
                    CHECK(iteration_s(world, plan) < 3 * one_s);
                }
            }
        }
    }
}

TEST_CASE("gradient sync: bytes are those of a reduce-scatter for each microbatch, of any size") {
    std::mt19937 random(7);
    for (std::int64_t ranks = 1; ranks <= 7; ++ranks) {
        for (std::int64_t m = 1; m <= 5; ++m) {
            for (const Sharding sharding : shardings) {
                for (const GradientSync sync :
                     {GradientSync::automatic, GradientSync::each_micro_batch, GradientSync::last_micro_batch}) {
                    CAPTURE(ranks, m, static_cast<int>(sharding), static_cast<int>(sync));
                    const World world = world_of(random, ranks, 1 + random() % 4, 1);
                    const Result result =
                        simulate(lower(world.cluster, world.model, plan_of(ranks, sharding, m, sync)));
                    const bool each = sync == GradientSync::automatic ? sharding >= Sharding::gradients
                                                                      : sync == GradientSync::each_micro_batch;
                    const double count = static_cast<double>(m), syncs = each ? count : 1;
                    // A ring's reduce-scatter or allgather of S bytes among N ranks sends (N-1)·S.
                    const double gradients = (sharding == Sharding::none ? 2 : 1) * syncs * gradient_element_bytes;
                    const double gathered = sharding == Sharding::none         ? 0
                                            : sharding == Sharding::parameters ? 2 * count * weight_element_bytes
                                                                               : weight_element_bytes;
                    CHECK(static_cast<double>(result.bytes_sent) ==
                          static_cast<double>(ranks - 1) * world.parameters() * (gradients + gathered));
                }
            }
        }
    }
}

TEST_CASE("gradient sync: hybrid shards are all-reduced for each microbatch", "[memory]") {
    std::mt19937 random(9);
    for (const auto& [groups, each] : {std::pair{2, 2}, {3, 2}, {2, 4}}) {
        const std::int64_t ranks = groups * each;
        const World world = world_of(random, ranks, 3, ranks);
        for (const std::int64_t m : {1, 3}) {
            CAPTURE(groups, each, m);
            Plan plan = plan_of(ranks, Sharding::parameters, m);
            plan.parallelism.shard_ranks = each;
            const Result result = simulate(lower(world.cluster, world.model, plan));
            const double g = groups, s = each, count = static_cast<double>(m);
            const double scattered = g * (s - 1) * gradient_element_bytes,
                         copied = 2 * (g - 1) * gradient_element_bytes;
            CHECK(static_cast<double>(result.bytes_sent) ==
                  Approx(count * world.parameters() * (scattered + copied + 2 * g * (s - 1) * weight_element_bytes))
                      .epsilon(1e-12));
        }
    }
}

TEST_CASE("gradient sync: no computation of a microbatch is beside an exchange of gradients of the one before",
          "[memory]") {
    std::mt19937 random(11);
    const World world = world_of(random, 4, 3, 4);
    for (const Sharding sharding : shardings) {
        for (const std::int64_t rows : {1, 2}) {
            Plan plan = plan_of(4, sharding, 3, GradientSync::each_micro_batch);
            plan.parallelism.layout.rows = rows;
            plan.fusion.threshold_bytes = 1e6;
            const Lowered training = lower(world.cluster, world.model, plan);
            const ReplayedIteration replayed = replay_iteration(training);
            std::vector<double> reduced_s(3, 0), begins_s(3, 1e9);
            std::size_t exchanges = 0;
            for (TaskId id = 0; id < replayed.graph.tasks().size(); ++id) {
                const Task& task = replayed.graph.tasks()[id];
                const Interval interval = replayed.timeline.measured()[id];
                if (replayed.graph.streams()[task.stream].process != 0) continue;
                if (task.phase == Phase::exchange) {
                    // Updated weights are gathered last.
                    if (++exchanges > 3 * training.buckets.size()) continue;
                    reduced_s[task.micro_batch] = std::max(reduced_s[task.micro_batch], interval.end_s);
                }
                if (task.phase == Phase::forward || task.phase == Phase::weights)
                    begins_s[task.micro_batch] = std::min(begins_s[task.micro_batch], interval.start_s);
            }
            CAPTURE(static_cast<int>(sharding), rows);
            const bool gathers = sharding == Sharding::optimizer || sharding == Sharding::gradients;
            CHECK(exchanges == training.buckets.size() * (gathers ? 4 : 3));
            CHECK(begins_s[1] >= reduced_s[0]);
            CHECK(begins_s[2] >= reduced_s[1]);
        }
    }
}

TEST_CASE("gradient sync: tasks and messages are counted, and fold to the same times", "[memory]") {
    std::mt19937 random(13);
    for (const Sharding sharding : shardings) {
        for (const std::int64_t within : {0, 4}) {
            if (sharding == Sharding::none && within > 0) continue;
            for (const GradientSync sync : {GradientSync::each_micro_batch, GradientSync::last_micro_batch}) {
                CAPTURE(static_cast<int>(sharding), within, static_cast<int>(sync));
                const World world = world_of(random, 16, 4, 16);
                Plan plan = plan_of(16, sharding, 4, sync);
                if (within > 0) plan.parallelism.shard_ranks = within;
                const Lowered training = lower(world.cluster, world.model, plan);
                const TaskGraph graph = build_iteration(training);
                CHECK(work_of(training).tasks == static_cast<double>(graph.tasks().size()));
                CHECK(work_of(training).messages == static_cast<double>(count_messages(graph)));
                for (const PlannedExchange& exchange : dry_run(training).exchanges)
                    CHECK(exchange.times == (sync == GradientSync::each_micro_batch ? 4 : 1));
                const Result simulated = simulate(training);
                plan.fidelity = Fidelity::folded;
                const Result folded = simulate(lower(world.cluster, world.model, plan));
                CHECK(folded.time.iteration_s == Approx(simulated.time.iteration_s).epsilon(1e-9));
                CHECK(folded.bytes_sent == simulated.bytes_sent);
                CHECK(folded.messages == simulated.messages);
            }
        }
    }
}

TEST_CASE("gradient sync: a pipeline exchanges gradients after its last microbatch", "[memory]") {
    std::mt19937 random(15);
    const World world = world_of(random, 4, 4, 4);
    for (const Sharding sharding : {Sharding::gradients, Sharding::parameters}) {
        const auto bytes = [&](GradientSync sync) {
            Plan plan = plan_of(4, sharding, 4, sync);
            plan.parallelism.pipeline.stages = 2;
            return simulate(lower(world.cluster, world.model, plan)).bytes_sent;
        };
        CHECK(bytes(GradientSync::automatic) == bytes(GradientSync::last_micro_batch));
    }
}

TEST_CASE("gradient sync: shards are kept between microbatches, and whole gradients of the largest layer for a time",
          "[memory]") {
    std::mt19937 random(17);
    const World world = world_of(random, 6, 5, 6);
    std::int64_t largest = 0;
    for (const Layer& layer : world.model.layers) largest = std::max(largest, layer.parameters);
    const double all = gradient_element_bytes * world.parameters(),
                 one = gradient_element_bytes * static_cast<double>(largest);
    const auto gradients = [&](Sharding sharding, std::int64_t m, GradientSync sync) {
        return memory_of(lower(world.cluster, world.model, plan_of(6, sharding, m, sync))).gradients_bytes;
    };
    for (const Sharding sharding : shardings) {
        CAPTURE(static_cast<int>(sharding));
        const bool sharded = sharding >= Sharding::gradients;
        CHECK(gradients(sharding, 4, GradientSync::last_micro_batch) == all);
        // With the sum of the microbatches before, which a first one does not have.
        CHECK(gradients(sharding, 4, GradientSync::each_micro_batch) == (sharded ? all / 6 + one : all));
        for (const GradientSync sync : {GradientSync::each_micro_batch, GradientSync::last_micro_batch})
            CHECK(gradients(sharding, 1, sync) == (sharded ? all / 6 + one * 5 / 6 : all));
    }
}

#include <memory>
#include <random>
#include <sstream>
#include <vector>

#include "sim/analysis/trace_experiment.hpp"
#include "sim/explain/task_names.hpp"
#include "sim/iteration/graph_trace.hpp"
#include "sim/iteration/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Iterations of trainings as execution traces: replayed as such, they send the same messages and take the same time.

using namespace syncline;

namespace {

/// Checks that an iteration from a standing start and its trace are the same; of `latencies`, the trace may take more.
void check_same(const Lowered& training, double latencies_s = 0) {
    const ReplayedIteration whole = replay_iteration(training);
    TracePlan plan;
    auto trace = std::make_shared<ExecutionTrace>(trace_of(whole.graph, TaskNames(training).of(whole.graph)));
    plan.trace = trace;
    plan.host_time = true;
    const Result result = simulate(training.cluster, plan);
    CHECK(result.time.iteration_s >= whole.time.iteration_s * (1 - 1e-9));
    CHECK(result.time.iteration_s <= (whole.time.iteration_s + latencies_s) * (1 + 1e-9));
    CHECK(result.messages == whole.timeline.messages);
    CHECK(result.bytes_sent == whole.timeline.bytes_sent);
    CHECK(result.time.longest_compute_s == Approx(whole.time.longest_compute_s));
}

Plan one_iteration(std::int64_t ranks) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 4;
    plan.compute = ComputeKind::measured;
    plan.iterations = 1;
    plan.algorithm.name = "ring";
    return plan;
}

}  // namespace

TEST_CASE("iterations of data parallelism are the same as traces") {
    std::mt19937 random(1);
    for (const std::int64_t ranks : {1, 2, 3, 4, 8}) {
        for (const char* algorithm : {"ring", "recursive-doubling", "double-binary-tree", "direct"}) {
            CAPTURE(ranks, algorithm);
            const TimedWorld world = timed_world(random, {1e9, 5e-6}, ranks, 5, 1, 1000);
            Plan plan = one_iteration(ranks);
            plan.algorithm.name = algorithm;
            // In a ring nobody is ahead by a step. Elsewhere the next receive is posted when bytes are there, and in a
            // trace a latency later, in each of five exchanges of up to 16 steps.
            const bool steady = plan.algorithm.name == "ring" || plan.algorithm.name == "direct";
            check_same(lower(world.cluster, world.model, plan), steady ? 0 : 5 * 16 * 10e-6);
        }
    }
}

TEST_CASE("iterations of pipelines and of split layers are the same as traces") {
    std::mt19937 random(2);
    for (int world_number = 0; world_number < 12; ++world_number) {
        const std::int64_t stages = 1 + world_number % 3, rows = 1 + world_number / 3 % 2,
                           columns = 1 + world_number % 2;
        const std::int64_t ranks = stages * rows * columns;
        CAPTURE(stages, rows, columns);
        const TimedWorld world = timed_world(random, {1e9, 5e-6}, ranks, 6, 4, 4000);
        Plan plan = one_iteration(ranks);
        plan.parallelism.layout.rows = rows;
        plan.parallelism.pipeline = {stages, stages > 1 ? 4 : 1, 1, PipelineSchedule::one_f_one_b, {}};
        check_same(lower(world.cluster, world.model, plan));
    }
}

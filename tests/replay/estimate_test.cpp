#include <cmath>
#include <vector>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/analysis/micro_batches.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/even_worlds.hpp"
#include "tests/replay/worlds.hpp"

// Estimated times of simulations, relative to each other, and estimated numbers of messages.

using namespace syncline;

namespace {

/// Returns the number of messages that are simulated one by one, in all replays of an iteration.
double simulated_messages(const Lowered& training) {
    double messages = 0;
    const auto replay = [&](const Lowered& some) {
        ReplayedIteration replayed = replay_representatives(some);
        messages += static_cast<double>(replayed.folded.messages_simulated);
        return replayed;
    };
    if (!fold_micro_batches(training, replay)) {
        messages = 0;
        replay(training);
    }
    return messages;
}

}  // namespace

TEST_CASE("estimate: the messages that folding leaves are counted within a factor of two", "[memory]") {
    struct World {
        std::string name;
        std::int64_t devices, stages, rows, micro_batches, virtual_stages;
        bool folds_replicas, folds_micro_batches;
    };
    const std::vector<World> worlds{
        {"replicas alone", 4, 1, 1, 2, 1, true, false},
        {"a node for each replica", 4, 2, 4, 4, 1, true, false},
        {"replicas and stages across nodes", 12, 2, 4, 4, 1, true, false},
        {"many microbatches", 4, 2, 2, 60, 1, true, true},
        {"many microbatches of interleaved stages", 4, 2, 4, 60, 2, true, true},
    };
    for (const World& world : worlds) {
        INFO(world.name);
        Chance chance(1);
        Plan plan = pipeline_of(world.stages, 4 * world.rows, world.micro_batches);
        plan.parallelism.layout.rows = world.rows;
        plan.parallelism.pipeline.virtual_stages = world.virtual_stages;
        if (world.virtual_stages > 1) plan.parallelism.pipeline.schedule = PipelineSchedule::interleaved;
        plan.fidelity = Fidelity::folded;
        const Cluster cluster =
            nodes_of((plan.ranks + world.devices - 1) / world.devices, world.devices, world.devices);
        const Lowered training = lower(cluster, even_layers(chance, 4, 192), plan);
        const Estimate estimated = estimate(training);
        const double simulated = simulated_messages(training), all = work_of(training).messages;
        CAPTURE(estimated.messages, simulated, all);
        CHECK(estimated.messages <= 2 * simulated);
        CHECK(estimated.messages >= simulated / 2);
        // Otherwise little would be tested.
        CHECK((rotations_of(training).images() > 1) == world.folds_replicas);
        CHECK(replayed_micro_batches(training).empty() != world.folds_micro_batches);
        CHECK(estimated.messages <= all / 3);
    }
}

TEST_CASE("estimate: on long routes a simulation is estimated to take longer, in proportion to their hops",
          "[memory]") {
    CollectivePlan plan;
    plan.ranks = 4096;
    plan.bytes = 4096;
    plan.algorithm = {"allreduce", "recursive-doubling"};
    const auto time_s = [&](Shape shape, const std::vector<std::int64_t>& dimensions) {
        Cluster cluster = cluster_on(wired(shape, 1e9, 1e-6), 4096);
        cluster.fabric.topology.dimensions = dimensions;
        return estimate(cluster, plan).time_s;
    };
    const double near_s = time_s(Shape::star, {}), cube_s = time_s(Shape::torus, {16, 16, 16}),
                 plane_s = time_s(Shape::torus, {64, 64});
    // Per message 2 hops, about 3 · 16/4 and about 2 · 64/4; the plane has two thirds of the cube's links.
    CHECK(cube_s > near_s);
    CHECK(plane_s > 1.5 * cube_s);
}

#include "sim/lowering/optimizer_step.hpp"

#include <random>

#include "sim/analysis/experiment.hpp"
#include "sim/analysis/theory.hpp"
#include "sim/workload/compute_model.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// The optimizer's step: bytes at the measured memory bandwidth, on whole weights or shards, between exchanges.

using namespace syncline;

namespace {

constexpr Star star{1e9, 5e-6};

struct World {
    Model model;
    Cluster cluster;
    double passes_s = 0, bytes = 0, exchanges_s = 0;
    std::int64_t parameters = 0;
};

/// The parameters of each layer are divisible by the number of ranks, so that shards are equal.
World world_of(std::mt19937& random, std::int64_t ranks) {
    World world;
    world.model = plain_model(1 + random() % 4, 0, 100);
    for (Layer& layer : world.model.layers) {
        layer.parameters = ranks * static_cast<std::int64_t>(random() % 400'000 + 1);
        layer.macs = static_cast<std::int64_t>(random() % 1'000'000'000);
        world.parameters += layer.parameters;
    }
    world.cluster =
        timed_star(ranks, star.bandwidth_Bps, star.latency_s, world.model,
                   std::vector<double>(world.model.layers.size()), std::vector<double>(world.model.layers.size()));
    world.cluster.device.kernels = KernelRates{.product_flops_per_s = 3e12,
                                               .attention_flops_per_s = 1e12,
                                               .memory_Bps = 2e10,
                                               .fixed_s = 3e-6,
                                               .multiprocessors = 8,
                                               .source = {},
                                               .table = {},
                                               .attention = {}};
    for (const LayerTime& time : layer_times(world.model, world.cluster.device, 2, ComputeKind::tables))
        world.passes_s += time.forward_s + time.backward_s();
    for (const Layer& layer : world.model.layers) {
        const double bytes = 4 * static_cast<double>(layer.parameters);
        if (ranks > 1) world.exchanges_s += 2 * star.ring_s(static_cast<double>(ranks), bytes);
    }
    return world;
}

Plan plan_of(std::int64_t ranks, Optimizer optimizer, Sharding sharding) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 2;
    plan.compute = ComputeKind::tables;
    plan.iterations = 3;
    plan.overlap = Overlap::none;
    plan.algorithm.name = "ring";
    plan.optimizer = optimizer;
    plan.parallelism.sharding = sharding;
    return plan;
}

}  // namespace

TEST_CASE("optimizer step: bytes of a weight by hand", "[memory]") {
    Model model;
    model.element_bytes = 4;  // no master copy: 4 passes over the gradient, weight and values are read and written
    CHECK(step_bytes(plan_of(1, Optimizer::sgd, Sharding::none), model).clipping == 16 * 3 / 4);
    CHECK(step_bytes(plan_of(1, Optimizer::sgd, Sharding::none), model).update == 16 / 4 + 8);
    CHECK(step_bytes(plan_of(1, Optimizer::momentum, Sharding::none), model).clipping == 16 * 3 / 4);
    CHECK(step_bytes(plan_of(1, Optimizer::momentum, Sharding::none), model).update == 16 / 4 + 16);
    CHECK(step_bytes(plan_of(1, Optimizer::adam, Sharding::none), model).clipping == 16 * 3 / 4);
    CHECK(step_bytes(plan_of(1, Optimizer::adam, Sharding::none), model).update == 16 / 4 + 24);
    model.precision = Precision::mixed();  // gradients of 2 B, master and moments of 4 B, a weight of 2 B is written
    CHECK(step_bytes(plan_of(1, Optimizer::adam, Sharding::none), model).clipping == 8 * 3 / 4);
    CHECK(step_bytes(plan_of(1, Optimizer::adam, Sharding::none), model).update == 8 / 4 + 24 + 2);
    model.precision.gradients = 4;  // Megatron-LM's main gradients
    CHECK(step_bytes(plan_of(1, Optimizer::adam, Sharding::none), model).clipping == 16 * 3 / 4);
    CHECK(step_bytes(plan_of(1, Optimizer::adam, Sharding::none), model).update == 16 / 4 + 24 + 2);
    model.precision.gradients = 2;  // with a buffer of 4 B beside them
    model.precision.accumulation = 4;
    CHECK(step_bytes(plan_of(1, Optimizer::adam, Sharding::none), model).clipping == 16 * 3 / 4);
    CHECK(step_bytes(plan_of(1, Optimizer::adam, Sharding::none), model).update == 16 / 4 + 24 + 2);
}

TEST_CASE("optimizer step: it follows the exchange, on the rank's shard, and weights are gathered after it",
          "[memory]") {
    std::mt19937 random(11);
    for (std::int64_t ranks = 1; ranks <= 6; ++ranks) {
        const World world = world_of(random, ranks);
        for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam}) {
            for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::gradients}) {
                if (ranks == 1 && sharding != Sharding::none) continue;
                CAPTURE(ranks, static_cast<int>(optimizer), static_cast<int>(sharding));
                const double per_weight = optimizer == Optimizer::sgd ? 24 : optimizer == Optimizer::momentum ? 32 : 40;
                const double shards = sharding == Sharding::none ? 1 : static_cast<double>(ranks);
                const double step_s = static_cast<double>(world.parameters) * per_weight / 2e10 / shards;
                const Result result = simulate(lower(world.cluster, world.model, plan_of(ranks, optimizer, sharding)));
                CHECK(result.time.iteration_s == Approx(world.passes_s + world.exchanges_s + step_s).epsilon(1e-6));
                if (sharding == Sharding::none)
                    CHECK(closed_form(lower(world.cluster, world.model, plan_of(ranks, optimizer, sharding)))
                              .iteration_time_s.value() == Approx(result.time.iteration_s).epsilon(1e-6));
            }
        }
    }
}

TEST_CASE("optimizer step: it is known with measured rates only, and a device's speed divides it", "[memory]") {
    std::mt19937 random(12);
    World world = world_of(random, 2);
    Plan plan = plan_of(2, Optimizer::adam, Sharding::none);
    const double step_s = lower(world.cluster, world.model, plan).steps.at(0).total_s();
    CHECK(step_s == Approx(static_cast<double>(world.parameters) * 40 / 2e10));
    world.cluster.device.speed = 0.8;
    CHECK(lower(world.cluster, world.model, plan).steps.at(0).total_s() == Approx(step_s / 0.8));
    plan.compute = ComputeKind::roofline;
    CHECK(lower(world.cluster, world.model, plan).steps.at(0).total_s() == 0);
    plan.compute = ComputeKind::tables;
    plan.exchange = ExchangeKind::parameter_server;
    CHECK(lower(world.cluster, world.model, plan).steps.at(0).total_s() == 0);
}

#include "sim/lowering/offload.hpp"

#include <algorithm>
#include <random>

#include "sim/analysis/experiment.hpp"
#include "sim/analysis/theory.hpp"
#include "sim/explain/explain.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Iterations whose optimizer runs in the host's memory, worked out by hand.

using namespace syncline;

namespace {

constexpr Star star{1e9, 5e-6};
constexpr double link_Bps = 2e9, host_Bps = 1.6e10;
// A weight in 4 bytes has no master copy; the optimizer is Adam.
constexpr double stored_bytes = 4, update_bytes = 4 + 24, clipping_bytes = 12;

struct World {
    Model model;
    Cluster cluster;
    std::vector<double> forward_s, backward_s, parameters;

    double sum(const std::vector<double>& values) const {
        double total = 0;
        for (const double value : values) total += value;
        return total;
    }
    double passes_s() const { return sum(forward_s) + sum(backward_s); }
};

/// The parameters of each layer are divisible by the number of ranks, so that shards are equal.
World world_of(std::mt19937& random, std::int64_t ranks) {
    World world;
    world.model = plain_model(1 + random() % 5, 0, 100);
    std::uniform_real_distribution<double> seconds(1e-4, 2e-3);
    for (Layer& layer : world.model.layers) {
        layer.parameters = random() % 5 == 0 ? 0 : ranks * static_cast<std::int64_t>(random() % 200'000 + 1);
        world.parameters.push_back(static_cast<double>(layer.parameters));
        world.forward_s.push_back(seconds(random));
        world.backward_s.push_back(seconds(random));
    }
    world.cluster =
        timed_star(ranks, star.bandwidth_Bps, star.latency_s, world.model, world.forward_s, world.backward_s);
    world.cluster.device.host_link_Bps = link_Bps;
    world.cluster.host.memory_Bps = host_Bps;
    return world;
}

Plan plan_of(std::int64_t ranks, Offload offload, Sharding sharding) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 1;
    plan.compute = ComputeKind::measured;
    plan.iterations = 3;
    plan.overlap = Overlap::none;
    plan.input_copy = InputCopy::none;
    plan.algorithm.name = "ring";
    plan.optimizer = Optimizer::adam;
    plan.offload = offload;
    plan.parallelism.sharding = sharding;
    return plan;
}

}  // namespace

TEST_CASE("offload: gradients out, the step and weights back follow the exchange, on the rank's shard", "[memory]") {
    std::mt19937 random(21);
    for (std::int64_t ranks = 1; ranks <= 6; ++ranks) {
        const World world = world_of(random, ranks);
        for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::gradients}) {
            if (ranks == 1 && sharding != Sharding::none) continue;
            CAPTURE(ranks, static_cast<int>(sharding));
            const double n = static_cast<double>(ranks);
            const double owned = world.sum(world.parameters) / (sharding == Sharding::none ? 1 : n);
            double exchanges_s = 0;
            for (const double parameters : world.parameters)
                if (parameters > 0 && ranks > 1) exchanges_s += 2 * star.ring_s(n, 4 * parameters);
            const double step_s = owned * (2 * stored_bytes / link_Bps + update_bytes / host_Bps);
            const Lowered training = lower(world.cluster, world.model, plan_of(ranks, Offload::optimizer, sharding));
            const Result result = simulate(training);
            CHECK(result.time.iteration_s == Approx(world.passes_s() + exchanges_s + step_s).epsilon(1e-6));
            // The device computes nothing while data is copied.
            CHECK(result.time.compute_s == Approx(world.passes_s() + owned * update_bytes / host_Bps).epsilon(1e-6));
            if (sharding == Sharding::none)
                CHECK(closed_form(training).iteration_time_s.value() == Approx(result.time.iteration_s).epsilon(1e-6));
        }
    }
}

TEST_CASE("offload: gradients of one rank leave while the backward pass continues", "[memory]") {
    std::mt19937 random(22);
    for (int round = 0; round < 12; ++round) {
        World world = world_of(random, 1);
        // Copies take less, or more, than the passes.
        if (round % 2 == 0) world.cluster.device.host_link_Bps = 2e8;
        const double copy_Bps = world.cluster.device.host_link_Bps;
        double computed_s = world.sum(world.forward_s), copied_s = 0;
        for (std::size_t i = world.parameters.size(); i-- > 0;) {
            computed_s += world.backward_s[i];
            if (world.parameters[i] > 0)
                copied_s = std::max(copied_s, computed_s) + stored_bytes * world.parameters[i] / copy_Bps;
        }
        const double owned = world.sum(world.parameters);
        const double expected_s = std::max(computed_s, copied_s) + owned * (clipping_bytes + update_bytes) / host_Bps +
                                  owned * stored_bytes / copy_Bps;
        CAPTURE(round);
        const Lowered training = lower(world.cluster, world.model, plan_of(1, Offload::gradients, Sharding::none));
        CHECK(simulate(training).time.iteration_s == Approx(expected_s).epsilon(1e-6));
        CHECK_FALSE(closed_form(training).iteration_time_s);
    }
}

TEST_CASE("offload: each of N ranks copies its share of a bucket when it is reduced", "[memory]") {
    std::mt19937 random(23);
    for (std::int64_t ranks = 2; ranks <= 5; ++ranks) {
        const World world = world_of(random, ranks);
        const double n = static_cast<double>(ranks);
        for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::gradients}) {
            CAPTURE(ranks, static_cast<int>(sharding));
            const double shards = sharding == Sharding::none ? 1 : n;
            double reduced_s = world.passes_s(), copied_s = 0, gathered_s = 0;
            for (std::size_t i = world.parameters.size(); i-- > 0;) {
                const double bytes = stored_bytes * world.parameters[i];
                if (bytes == 0) continue;
                reduced_s += (sharding == Sharding::none ? 2 : 1) * star.ring_s(n, bytes);
                copied_s = std::max(copied_s, reduced_s) + bytes / shards / link_Bps;
                if (sharding != Sharding::none) gathered_s += star.ring_s(n, bytes);
            }
            const double owned = world.sum(world.parameters) / shards;
            const double expected_s = std::max(reduced_s, copied_s) +
                                      owned * (clipping_bytes + update_bytes) / host_Bps +
                                      owned * stored_bytes / link_Bps + gathered_s;
            const Lowered training = lower(world.cluster, world.model, plan_of(ranks, Offload::gradients, sharding));
            CHECK(simulate(training).time.iteration_s == Approx(expected_s).epsilon(1e-6));
        }
    }
}

TEST_CASE("offload: the same state takes the same exchanges, and nothing if no layer has parameters", "[memory]") {
    std::mt19937 random(24);
    World world = world_of(random, 4);
    for (Layer& layer : world.model.layers) layer.parameters = 0;
    for (const Offload offload : {Offload::optimizer, Offload::gradients})
        CHECK(simulate(lower(world.cluster, world.model, plan_of(4, offload, Sharding::none))).time.iteration_s ==
              Approx(world.passes_s()).epsilon(1e-9));
}

TEST_CASE("offload: folded and message by message take the same time", "[memory]") {
    std::mt19937 random(25);
    for (const Offload offload : {Offload::optimizer, Offload::gradients})
        for (const Sharding sharding : {Sharding::none, Sharding::optimizer}) {
            const World world = world_of(random, 24);
            Plan plan = plan_of(24, offload, sharding);
            plan.overlap = Overlap::wait_free;
            plan.fidelity = Fidelity::message;
            const Result messages = simulate(lower(world.cluster, world.model, plan));
            plan.fidelity = Fidelity::folded;
            const Result folded = simulate(lower(world.cluster, world.model, plan));
            CHECK(folded.folded.messages_folded > 0);
            CHECK(folded.time.iteration_s == Approx(messages.time.iteration_s).epsilon(1e-6));
        }
}

TEST_CASE("offload: an explanation has the step and the copies", "[memory]") {
    std::mt19937 random(26);
    World world = world_of(random, 2);
    const double owned = world.sum(world.parameters) / 2;
    const Lowered training = lower(world.cluster, world.model, plan_of(2, Offload::optimizer, Sharding::optimizer));
    const Explanation e = explain(training, {});
    CHECK(e.optimizer_step_s == Approx(owned * update_bytes / host_Bps).epsilon(1e-6));
    CHECK(e.offload_copies_s == Approx(2 * owned * stored_bytes / link_Bps).epsilon(1e-6));
    CHECK(e.ranks[e.last_rank].copies_s == Approx(e.offload_copies_s).epsilon(1e-6));
    CHECK(std::ranges::any_of(e.phases, [](const PhaseShare& one) { return one.phase == "copy to host"; }));
    CHECK(std::ranges::any_of(e.phases, [](const PhaseShare& one) { return one.phase == "copy to device"; }));
}

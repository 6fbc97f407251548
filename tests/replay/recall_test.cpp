#include <cmath>
#include <random>

#include "sim/analysis/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"
#include "tests/sanitized.hpp"

// Exchanges of large groups whose rings share links: equal ones are simulated once. Against message by message.

using namespace syncline;

namespace {

struct World {
    Model model;
    Cluster cluster;
    Plan plan;
};

/// Returns a training with sharded weights on nodes of several devices, whose messages inside and between nodes have
/// other rates and latencies. Layers have one of two sizes; `seconds`: of a layer's forward pass.
World world_of(std::int64_t ranks, std::int64_t devices, std::int64_t nics, double seconds, std::int64_t rest) {
    World world;
    world.model = plain_model(8, 0, 100);
    std::vector<double> forward_s, backward_s;
    for (std::size_t i = 0; i < world.model.layers.size(); ++i) {
        world.model.layers[i].parameters = ranks * nics * (i % 2 == 0 ? 20'000 : 30'000) + rest;
        forward_s.push_back(seconds);
        backward_s.push_back(2 * seconds);
    }
    world.cluster = timed_star(ranks / devices, 12.5e9, 5e-6, world.model, forward_s, backward_s);
    world.cluster.latency = Latency::travelling;
    world.cluster.device.reduction_Bps = 5e11;
    world.cluster.node.devices = devices;
    world.cluster.node.links = NodeLinks::crossbar;
    world.cluster.node.link = {150e9, 3e-6};
    world.cluster.node.nics = nics;
    world.plan.ranks = ranks;
    world.plan.batch_per_rank = 1;
    world.plan.compute = ComputeKind::measured;
    world.plan.iterations = 1;
    world.plan.parallelism.sharding = Sharding::parameters;
    return world;
}

ReplayedIteration trained(World world, Fidelity fidelity) {
    world.plan.fidelity = fidelity;
    return replay_iteration(lower(world.cluster, world.model, world.plan));
}

/// Compares both. Returns the share of messages that were folded.
double compare(const World& world) {
    const ReplayedIteration all = trained(world, Fidelity::message), some = trained(world, Fidelity::folded);
    const double off_s = std::abs(some.time.iteration_s - all.time.iteration_s);
    CHECK(off_s <= some.folded.error_s + 1e-9 * all.time.iteration_s);
    CHECK(off_s <= 1e-3 * all.time.iteration_s);
    CHECK(some.folded.error_s <= 0.02 * all.time.iteration_s);
    CHECK(some.timeline.messages == all.timeline.messages);
    CHECK(some.timeline.bytes_sent == all.timeline.bytes_sent);
    CHECK(some.timeline.sent_by == all.timeline.sent_by);
    CHECK(some.timeline.received_by == all.timeline.received_by);
    return static_cast<double>(some.timeline.messages_folded) / static_cast<double>(some.timeline.messages);
}

}  // namespace

TEST_CASE("recall: gathered weights and reduced gradients of equal layers are simulated once") {
    // From bound by computation to bound by exchanges, which take about a millisecond.
    for (const double seconds : {5e-3, 1e-3, 1e-4}) {
#if defined(SYNCLINE_SANITIZED)
        if (seconds != 1e-3) continue;
#endif
        for (const std::int64_t rest : {0, 5}) {
            CAPTURE(seconds, rest);
            CHECK(compare(world_of(132, 4, 2, seconds, rest)) > 0.5);
        }
    }
    CHECK(compare(world_of(130, 2, 2, 1e-3, 1)) > 0.5);
}

TEST_CASE("recall: an exchange on the same links at the same time is not missed") {
    // Shards are all-reduced across groups, beside the next reduce-scatter.
    World world = world_of(260, 2, 2, 1e-4, 0);
    world.plan.parallelism.shard_ranks = 130;
    compare(world);
}

TEST_CASE("recall: groups of up to 128 ranks are exact") {
    const ReplayedIteration some = trained(world_of(128, 4, 2, 1e-3, 5), Fidelity::folded);
    const ReplayedIteration all = trained(world_of(128, 4, 2, 1e-3, 5), Fidelity::message);
    CHECK(some.time.iteration_s == Approx(all.time.iteration_s).epsilon(1e-9));
    CHECK(some.folded.error_s == 0);
}

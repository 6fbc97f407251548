#include <algorithm>
#include <random>

#include "sim/analysis/experiment.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/collective/every_rounds.hpp"
#include "sim/iteration/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"

// Local SGD: replicas compute for c seconds, and exchange for T seconds after every H-th iteration; results may be
// late.

using namespace syncline;
using namespace syncline::test;

namespace {

struct World {
    Cluster cluster = plain_star(1e9, 1e-5);
    Model model;
    Plan plan;

    Result result(std::int64_t local_steps, std::int64_t delay = 0) const {
        Plan changed = plan;
        changed.local_steps = local_steps;
        changed.exchange_delay = delay;
        return simulate(lower(cluster, model, changed));
    }
    double compute_s() const {
        Plan alone = plan;
        alone.ranks = 1;
        return simulate(lower(cluster, model, alone)).time.iteration_s;
    }
};

World random_world(std::mt19937& random) {
    World world;
    world.model = random_layers(random, 1 + random() % 3, 1000, 20'000);
    world.plan.ranks = 2 + static_cast<std::int64_t>(random() % 7);
    world.plan.batch_per_rank = 1;
    world.plan.input_copy = InputCopy::none;
    world.plan.overlap = Overlap::none;
    return world;
}

}  // namespace

TEST_CASE("local steps: an iteration takes c + T/H, and sends an H-th of the messages") {
    std::mt19937 random(4);
    for (int trial = 0; trial < 20; ++trial) {
        const World world = random_world(random);
        const Result each = world.result(1);
        const double compute_s = world.compute_s(), exchange_s = each.time.iteration_s - compute_s;
        for (const std::int64_t steps : {2, 5, 16}) {
            const Result rare = world.result(steps);
            CHECK(rare.time.iteration_s == Approx(compute_s + exchange_s / static_cast<double>(steps)));
            CHECK(rare.time.compute_s == Approx(compute_s));
            CHECK(rare.messages ==
                  (each.messages + static_cast<std::uint64_t>(steps) / 2) / static_cast<std::uint64_t>(steps));
            REQUIRE(rare.closed_form.iteration_time_s.has_value() == each.closed_form.iteration_time_s.has_value());
            if (rare.closed_form.iteration_time_s)
                CHECK(*rare.closed_form.iteration_time_s == Approx(rare.time.iteration_s));
        }
    }
}

TEST_CASE("local steps: an exchange in every round is the exchange itself") {
    const std::shared_ptr<const CollectiveAlgorithm> ring = make_algorithm({}, 4);
    const EveryRounds each(ring, 1), third(ring, 3);
    for (std::uint32_t round = 0; round < 6; ++round) {
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            CHECK(messages_sent(each, rank, 4, 1000, round) == messages_sent(*ring, rank, 4, 1000, round));
            CHECK(messages_sent(third, rank, 4, 1000, round) == (round % 3 == 0 ? 6 : 0));
        }
    }
    CHECK(each.period() == 1);
    CHECK(third.period() == 3);
}

TEST_CASE("local steps: an exchange that overlaps with k iterations takes T - k·c, if it is longer") {
    std::mt19937 random(5);
    for (int trial = 0; trial < 20; ++trial) {
        const World world = random_world(random);
        const double compute_s = world.compute_s(), exchange_s = world.result(1).time.iteration_s - compute_s;
        for (const std::int64_t delay : {1, 3, 7}) {
            const double left_s = std::max(0.0, exchange_s - static_cast<double>(delay) * compute_s);
            CHECK(world.result(8, delay).time.iteration_s == Approx(compute_s + left_s / 8));
        }
        // Without local steps the exchanges are one after the other.
        CHECK(world.result(1, 1).time.iteration_s == Approx(std::max(compute_s, exchange_s)));
        CHECK(world.result(1, 4).time.iteration_s == Approx(std::max(compute_s, exchange_s)));
    }
}

TEST_CASE("exchange delay: exchanges that take longer than computation are always in flight, whatever the delay") {
    World world;
    world.model.name = "one layer";
    world.model.layers = {layer_of(4'000'000, 1000)};
    world.plan.ranks = 4;
    world.plan.batch_per_rank = 1;
    world.plan.input_copy = InputCopy::none;
    world.plan.overlap = Overlap::none;
    world.plan.iterations = 30;
    const double compute_s = world.compute_s(), exchange_s = world.result(1).time.iteration_s - compute_s;
    REQUIRE(exchange_s > 2 * compute_s);
    for (const std::int64_t delay : {1, 2, 3}) {
        const Breakdown time = world.result(1, delay).time;
        CHECK(time.iteration_s == Approx(exchange_s));
        CHECK(time.compute_s == Approx(compute_s));
        CHECK(time.communication_s == Approx(exchange_s));
        CHECK(time.exposed_communication_s == Approx(exchange_s - compute_s));
        CHECK(time.waiting_s == 0);
        Plan plan = world.plan;
        plan.exchange_delay = delay;
        const ReplayedIteration replayed = replay_iteration(lower(world.cluster, world.model, plan));
        const Activity activity = activity_of(replayed.graph, replayed.timeline, replayed.averaged);
        CHECK(activity.exposed_communication_s == Approx(4 * (exchange_s - compute_s)));
    }
}

TEST_CASE("exchange delay: a note says that updates do not wait yet for exchanges that fall behind") {
    World world;
    world.model.name = "one layer";
    world.model.layers = {layer_of(2'100'000, 1000)};
    world.plan.ranks = 2;
    world.plan.batch_per_rank = 1;
    world.plan.input_copy = InputCopy::none;
    world.plan.overlap = Overlap::none;
    const auto noted = [](const Result& result) {
        return std::ranges::any_of(
            result.notes, [](const std::string& note) { return note.find("fall behind") != std::string::npos; });
    };
    const double compute_s = world.compute_s(), exchange_s = world.result(1).time.iteration_s - compute_s;
    REQUIRE(exchange_s > 1.03 * compute_s);
    REQUIRE(exchange_s < 1.1 * compute_s);
    const Result early = world.result(1, 4);
    CHECK(early.time.iteration_s == Approx(compute_s));
    CHECK(noted(early));
    CHECK_FALSE(noted(world.result(1, 1)));
    CHECK_FALSE(noted(world.result(8, 4)));
    world.plan.iterations = 200;
    const Result late = world.result(1, 4);
    CHECK(late.time.iteration_s == Approx(exchange_s));
    CHECK_FALSE(noted(late));
}

TEST_CASE("local steps: with jitter the mean is that of whole rounds") {
    std::mt19937 random(6);
    World world = random_world(random);
    world.plan.noise.jitter = 0.1;
    world.plan.local_steps = 8;
    for (const std::int64_t iterations : {4, 30, 41}) {
        world.plan.iterations = iterations;
        CHECK(lower(world.cluster, world.model, world.plan).averaged % 8 == 0);
    }
}

TEST_CASE("gossip with delay: an iteration takes the longer one of computation and exchange") {
    World world;
    world.model.name = "one layer";
    world.plan.ranks = 8;
    world.plan.batch_per_rank = 1;
    world.plan.input_copy = InputCopy::none;
    world.plan.overlap = Overlap::none;
    world.plan.exchange = ExchangeKind::gossip;
    world.plan.algorithm = {.operation = "neighbour-exchange", .name = "gossip", .overlay = TopologySpec{}};
    world.plan.algorithm.overlay->shape = Shape::ring;
    // With two neighbours 2S/B + α: 2 ms and 10 us, against computation of 1 to 3 ms.
    for (const std::int64_t microseconds : {100, 400, 1000, 3000}) {
        world.model.layers = {layer_of(1'000'000, microseconds)};
        const double exchange_s = 2e-3 + 1e-5, compute_s = world.compute_s();
        CHECK(world.result(1).time.iteration_s == Approx(compute_s + exchange_s));
        CHECK(world.result(1, 1).time.iteration_s == Approx(std::max(compute_s, exchange_s)));
    }
}

TEST_CASE("local steps: shares of compute of INTELLECT-1") {
    // S. Jaghouar et al., "INTELLECT-1 technical report", 2024, arXiv:2412.01152: 100 steps in 38 min, then all-reduces
    // of 103 s in the USA, 382 s with Europe and 469 s around the world: 95.7, 85.6 and 83.0 % of the time. Here eight
    // replicas exchange 10 billion values of a byte by a ring, 2·7/8·S/B, at the bandwidths of these times.
    const struct { double exchange_s, share; } rows[] = {{103, 0.957}, {382, 0.856}, {469, 0.830}};
    for (const auto& [exchange_s, share] : rows) {
        World world;
        world.cluster = plain_star(1.75 * 10e9 / exchange_s, 0);
        world.model.name = "10B";
        world.model.layers.push_back({"layer", 10'000'000'000, 1'000'000, 0, 0});
        world.plan.precision.gradients = 1;
        world.plan.ranks = 8;
        world.plan.batch_per_rank = 1;
        world.plan.input_copy = InputCopy::none;
        world.plan.overlap = Overlap::none;
        // The device's speed is that of the 22.8 s of a step.
        const double planned_s = world.compute_s();
        world.cluster.device.flops_per_s *= planned_s / 22.8;
        const Result result = world.result(100);
        CHECK(result.time.compute_s == Approx(22.8));
        CHECK(result.time.compute_s / result.time.iteration_s == Approx(share).epsilon(0.002));
    }
}

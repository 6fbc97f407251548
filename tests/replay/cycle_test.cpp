#include <cmath>
#include <random>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/explain/explain.hpp"
#include "sim/iteration/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"
#include "tests/replay/training_worlds.hpp"

// Ticks of a fusion cycle: a bucket leaves at a multiple of the cycle after its iteration's start, whenever its
// gradients are ready. Iterations by hand, in milliseconds.

using namespace syncline;

namespace {

/// A layer whose gradients two ranks exchange in `exchange_ms`: by two messages of 1 ms and half of its bytes each, at
/// 1 GB/s. 0: it has none.
struct Timed {
    double forward_ms, backward_ms, exchange_ms;
};

struct World {
    Cluster cluster;
    Model model;
    Plan plan;

    double iteration_ms() const { return 1e3 * simulate(lower(cluster, model, plan)).time.iteration_s; }
};

World world_of(const std::vector<Timed>& layers, double cycle_ms) {
    World world;
    world.model.name = "timed";
    std::vector<double> forward_s, backward_s;
    for (const Timed& layer : layers) {
        const double bytes = layer.exchange_ms > 0 ? (layer.exchange_ms - 2) * 1e6 : 0;
        world.model.layers.push_back(plain_layer(forward_s.size(), std::llround(bytes / 4), 1000));
        forward_s.push_back(layer.forward_ms * 1e-3);
        backward_s.push_back(layer.backward_ms * 1e-3);
    }
    world.cluster = timed_star(2, 1e9, 0.5e-3, world.model, forward_s, backward_s);
    world.plan.ranks = 2;
    world.plan.batch_per_rank = 1;
    world.plan.compute = ComputeKind::measured;
    world.plan.input_copy = InputCopy::none;
    world.plan.overlap = Overlap::wait_free;
    world.plan.fusion.cycle_s = cycle_ms * 1e-3;
    return world;
}

Stragglers slowed(std::vector<std::int64_t> ranks, double slowdown) {
    return {0, std::move(ranks), slowdown};
}

}  // namespace

TEST_CASE("cycle: a gradient that is ready at a tick leaves at that tick", "[memory]") {
    const struct {
        double forward_ms, backward_ms, cycle_ms, iteration_ms;
    } cases[] = {{20, 50, 5, 80},   {12, 24, 3, 46},  {2, 4, 1.2, 16},
                 {20, 40, 50, 110}, {20, 40, 60, 70}, {20, 40, 100, 110}};
    for (const auto& one : cases) {
        for (const Overlap overlap : {Overlap::none, Overlap::wait_free, Overlap::across_iterations}) {
            CAPTURE(one.forward_ms, one.backward_ms, one.cycle_ms, static_cast<int>(overlap));
            World world = world_of({{one.forward_ms, one.backward_ms, 10}}, one.cycle_ms);
            world.plan.overlap = overlap;
            const Result result = simulate(lower(world.cluster, world.model, world.plan));
            CHECK(1e3 * result.time.iteration_s == Approx(one.iteration_ms).epsilon(1e-9));
            CHECK(result.time.drift < 1e-9);
            if (overlap != Overlap::across_iterations)
                CHECK(1e3 * result.closed_form.iteration_time_s.value() == Approx(one.iteration_ms).epsilon(1e-9));
        }
    }
}

TEST_CASE("cycle: a straggler's gradient waits for the next tick after it is ready, not for the planned time",
          "[memory]") {
    World world = world_of({{20, 40, 10}}, 50);
    const auto with = [&](const Stragglers& stragglers) {
        world.plan.noise.stragglers = stragglers;
        return world.iteration_ms();
    };
    // Planned: the gradient at 60, the tick at 100. At 90 it reaches that tick, and at 100; at 102 and 120 it reaches
    // the tick at 150, for which a punctual rank waits in the exchange; at 30 it reaches the tick before.
    CHECK(with(slowed({0, 1}, 1.5)) == Approx(110).epsilon(1e-9));
    CHECK(with(slowed({0, 1}, 5.0 / 3)) == Approx(110).epsilon(1e-9));
    CHECK(with(slowed({0, 1}, 1.7)) == Approx(160).epsilon(1e-9));
    CHECK(with(slowed({1}, 2)) == Approx(160).epsilon(1e-9));
    CHECK(with(slowed({0, 1}, 0.5)) == Approx(60).epsilon(1e-9));
}

TEST_CASE("cycle: a gradient that an exchange delays waits for the next tick", "[memory]") {
    // The second layer's gradient is ready at 40 and leaves at 50, for 40. The first layer's needs 50, of which 10 are
    // done by then; until 90 half of 40, and then the other 20: it is ready at 110, leaves at 150, and is delivered at
    // 160.
    World world = world_of({{10, 50, 10}, {10, 20, 40}}, 50);
    world.cluster.device.speed_beside_exchange = 0.5;
    CHECK(world.iteration_ms() == Approx(160).epsilon(1e-9));
    // With an exchange of 10, it delays the first layer's gradient to 65 if that needs 20: planned for 60, it still
    // leaves at 100.
    world = world_of({{10, 20, 10}, {10, 20, 10}}, 50);
    world.cluster.device.speed_beside_exchange = 0.5;
    CHECK(world.iteration_ms() == Approx(110).epsilon(1e-9));
}

TEST_CASE("cycle: buckets planned for one tick leave at two if their gradients are late", "[memory]") {
    // Gradients at 40 and 60, one tick at 70. At half speed they are ready at 80 and 120: the first leaves at 140 with
    // the second; at two thirds of the speed at 60 and 90: the first leaves at 70 and is delivered at 80, the second at
    // 140 and 150.
    World world = world_of({{10, 20, 10}, {10, 20, 10}}, 70);
    CHECK(world.iteration_ms() == Approx(90).epsilon(1e-9));
    world.plan.noise.stragglers = slowed({0, 1}, 2);
    CHECK(world.iteration_ms() == Approx(160).epsilon(1e-9));
    world.plan.noise.stragglers = slowed({0, 1}, 1.5);
    CHECK(world.iteration_ms() == Approx(150).epsilon(1e-9));
    // A bucket of both is complete with the second.
    world.plan.fusion.threshold_bytes = 1e9;
    CHECK(world.iteration_ms() == Approx(140 + 18).epsilon(1e-9));
    // Its pieces leave together, one after the other: of 1 MB, each with two latencies.
    world.plan.partition_bytes = 1e6;
    CHECK(world.iteration_ms() == Approx(140 + 16 * (2 + 1)).epsilon(1e-9));
}

TEST_CASE("cycle: it starts with the forward pass, or with a blocking copy of the batch", "[memory]") {
    World world = world_of({{20, 40, 10}}, 35);
    world.model.sample_elements = 1'000'000;
    world.cluster.device.host_link_Bps = 4e8;  // 10 ms
    world.plan.input_copy = InputCopy::blocking;
    CHECK(world.iteration_ms() == Approx(80).epsilon(1e-9));  // 10 + 20 + 40, which is a tick
    world.plan.input_copy = InputCopy::overlapped;
    CHECK(world.iteration_ms() == Approx(80).epsilon(1e-9));  // 20 + 40, 10 until the tick
    // A copy of 200 is the bottleneck, and the forward pass waits for it: 60 and until 70 after its start.
    world.cluster.device.host_link_Bps = 2e7;
    const Result result = simulate(lower(world.cluster, world.model, world.plan));
    CHECK(1e3 * result.time.iteration_s == Approx(200).epsilon(1e-9));
    CHECK(result.time.drift < 1e-9);
}

TEST_CASE("cycle: an iteration that begins before the previous one's buckets have left does not move their ticks",
          "[memory]") {
    // The first layer, without weights, and the second: forward 10 each, then the second's gradient, 40. Then the next
    // iteration begins, while the gradient waits for the tick at 70 of its own iteration and is exchanged, for 10; the
    // second layer's next forward pass waits for it. Iteration             0    1    2    3 begins                0 60
    // 130  190   with the previous iteration's gradient second forward pass  10   80  140  210   10 later, or when the
    // previous exchange is done gradient             60  130  190  260   50 later tick                 70  130  200
    //  260   70 after the beginning delivered            80  140  210  270
    World world = world_of({{10, 0, 0}, {10, 40, 10}}, 70);
    world.plan.overlap = Overlap::across_iterations;
    const Timeline timeline =
        replay_isolated(world.cluster, build_iteration(lower(world.cluster, world.model, world.plan)), {4, 3});
    const double through_ms[] = {80, 140, 210, 270};
    for (std::size_t i = 0; i < 4; ++i) CHECK(1e3 * timeline.iteration_end_s.at(i) == Approx(through_ms[i]));
}

TEST_CASE(
    "cycle: with noise every bucket leaves at a multiple of the cycle after its iteration's start, less than one "
    "late",
    "[memory]") {
    std::mt19937 random(5);
    for (int round = 0; round < 30; ++round) {
        const Model model = test::random_layers(random, 1 + random() % 6, 4000, 100);
        Cluster cluster = test::plain_star(1e9, 2e-6);
        if (round % 2 == 0) cluster.device.speed_beside_exchange = 0.6;
        Plan plan;
        plan.ranks = 2 + random() % 4;
        plan.batch_per_rank = 1;
        plan.iterations = 20;
        plan.noise.jitter = 0.2;
        plan.noise.stragglers = {1, {}, 1.3};
        constexpr Overlap overlaps[] = {Overlap::none, Overlap::wait_free, Overlap::across_iterations};
        plan.overlap = overlaps[round % 3];
        plan.fusion.cycle_s = 1e-6 * static_cast<double>(1 + random() % 3000);
        if (round % 4 == 0) plan.fusion.threshold_bytes = 3e5;
        CAPTURE(round, plan.ranks, plan.fusion.cycle_s);
        const ReplayedIteration replayed = replay_iteration(lower(cluster, model, plan));
        std::vector<TaskId> first(replayed.graph.processes().size());
        for (StreamId stream = 0; stream < replayed.graph.streams().size(); ++stream)
            if (replayed.graph.streams()[stream].kind == StreamKind::compute)
                first[replayed.graph.streams()[stream].process] = replayed.graph.tasks_of(stream).front();
        std::size_t releases = 0;
        for (const std::vector<Interval>& intervals : replayed.timeline.recorded) {
            for (TaskId task = 0; task < replayed.graph.tasks().size(); ++task) {
                if (replayed.graph.tasks()[task].phase != Phase::release) continue;
                ++releases;
                const ProcessId process = replayed.graph.streams()[replayed.graph.tasks()[task].stream].process;
                const double after_s = intervals[task].end_s - intervals[first[process]].start_s;
                const double ticks = after_s / plan.fusion.cycle_s;
                CHECK(std::abs(ticks - std::round(ticks)) < 1e-6);
                CHECK(intervals[task].end_s - intervals[task].start_s < plan.fusion.cycle_s);
            }
        }
        CHECK(releases > 0);
    }
}

TEST_CASE("cycle: late gradients are folded as they are replayed, and the wait is named", "[memory]") {
    World world = world_of({{10, 20, 10}, {10, 20, 10}}, 70);
    world.plan.noise.stragglers = slowed({0, 1}, 1.5);
    world.plan.iterations = 40;
    world.plan.fidelity = Fidelity::folded;
    const Result folded = simulate(lower(world.cluster, world.model, world.plan));
    CHECK(1e3 * folded.time.iteration_s == Approx(150).epsilon(1e-9));
    CHECK(folded.folded.iterations_folded > 30);
    // From 90, when the second gradient is ready, to 140.
    world.plan.fidelity = Fidelity::message;
    const Explanation explanation = explain(lower(world.cluster, world.model, world.plan));
    double waited_s = 0;
    for (const PathPiece& piece : explanation.path) {
        if (piece.kind != PathKind::timer) continue;
        CHECK(piece.what == "fusion cycle");
        waited_s += piece.end_s - piece.start_s;
    }
    CHECK(waited_s == Approx(50e-3).epsilon(1e-9));
}

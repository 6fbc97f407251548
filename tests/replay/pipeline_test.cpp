#include <algorithm>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Compares pipelines of equal stages with D. Narayanan et al. (SC 2021), on the timeline, and two stages by hand.

using namespace syncline;

namespace {

constexpr double forward_s = 1, backward_s = 2;  // per sample and layer

Cluster equal_layers(std::int64_t ranks, const Model& model, double bandwidth_Bps, double latency_s) {
    return timed_star(ranks, bandwidth_Bps, latency_s, model, std::vector<double>(model.layers.size(), forward_s),
                      std::vector<double>(model.layers.size(), backward_s));
}

/// Returns a plan with each stage on `each` ranks, and one sample per rank in a microbatch.
Plan plan_of(PipelineSchedule schedule, std::int64_t stages, std::int64_t micro_batches, std::int64_t chunks,
             std::int64_t each = 1) {
    Plan plan;
    plan.ranks = stages * each;
    plan.batch_per_rank = micro_batches;
    plan.compute = ComputeKind::measured;
    plan.iterations = 3;
    plan.algorithm.name = "ring";
    plan.parallelism.pipeline = {stages, micro_batches, chunks, schedule, {}};
    return plan;
}

constexpr double no_time_Bps = 1e18;

}  // namespace

TEST_CASE("pipelines of equal stages without transfers take the formula's time and have its bubble", "[memory]") {
    for (const auto schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b}) {
        for (const std::int64_t p : {2, 3, 5}) {
            for (const std::int64_t m : {1, 2, 4, 7}) {
                const std::int64_t each = 1 + m % 2;
                CAPTURE(static_cast<int>(schedule), p, m, each);
                const Model model = plain_model(static_cast<std::size_t>(2 * p), 0, 1);
                const Result result = simulate(
                    lower(equal_layers(p * each, model, no_time_Bps, 0), model, plan_of(schedule, p, m, 1, each)));
                const auto slots = static_cast<double>(m + p - 1);
                CHECK(result.time.iteration_s == Approx(slots * 2 * (forward_s + backward_s)).epsilon(1e-9));
                REQUIRE(result.time.pipeline_bubble);
                CHECK(*result.time.pipeline_bubble == Approx(static_cast<double>(p - 1) / slots).epsilon(1e-9));
            }
        }
    }
}

TEST_CASE("interleaved pipelines of equal stages have a bubble that shrinks with the chunks", "[memory]") {
    for (const std::int64_t p : {2, 3, 4}) {
        for (const std::int64_t v : {1, 2, 3}) {
            for (const std::int64_t m : {p, 2 * p, 3 * p}) {
                CAPTURE(p, v, m);
                const Model model = plain_model(static_cast<std::size_t>(p * v), 0, 1);
                const Result result = simulate(lower(equal_layers(p, model, no_time_Bps, 0), model,
                                                     plan_of(PipelineSchedule::interleaved, p, m, v)));
                const auto slots = static_cast<double>(v * m + p - 1);
                CHECK(result.time.iteration_s == Approx(slots * (forward_s + backward_s)).epsilon(1e-9));
                REQUIRE(result.time.pipeline_bubble);
                CHECK(*result.time.pipeline_bubble == Approx(static_cast<double>(p - 1) / slots).epsilon(1e-9));
            }
        }
    }
}

TEST_CASE("without stages there is no bubble", "[memory]") {
    const Model model = plain_model(3, 1000, 1);
    const Result result =
        simulate(lower(equal_layers(2, model, 1e3, 0), model, plan_of(PipelineSchedule::gpipe, 1, 2, 1, 2)));
    CHECK_FALSE(result.time.pipeline_bubble);
}

TEST_CASE("a stage holds p - s microbatches with 1F1B and all with gpipe, on the timeline and in memory", "[memory]") {
    for (const std::int64_t p : {2, 4}) {
        for (const std::int64_t m : {1, 3, 6}) {
            CAPTURE(p, m);
            const Model model = plain_model(static_cast<std::size_t>(p), 0, 10);
            const Cluster cluster = equal_layers(p, model, no_time_Bps, 0);
            double held_bytes[2] = {};
            for (const bool gpipe : {false, true}) {
                const Plan plan = plan_of(gpipe ? PipelineSchedule::gpipe : PipelineSchedule::one_f_one_b, p, m, 1);
                held_bytes[gpipe] = memory_of(lower(cluster, model, plan)).activations_bytes;
                const TaskGraph graph = build_iteration(lower(cluster, model, plan));
                const Timeline timeline = replay_isolated(cluster, graph, {3, 1});
                for (ProcessId stage = 0; stage < p; ++stage) {
                    std::vector<std::pair<double, int>> changes;
                    for (TaskId id = 0; id < graph.tasks().size(); ++id) {
                        const Task& task = graph.tasks()[id];
                        if (graph.streams()[task.stream].process != stage) continue;
                        // Shifted by half a unit, so that ends are counted before the starts at the same time.
                        if (task.phase == Phase::forward)
                            changes.push_back({timeline.measured()[id].start_s + forward_s / 2, 1});
                        if (task.phase == Phase::backward) changes.push_back({timeline.measured()[id].end_s, -1});
                    }
                    std::sort(changes.begin(), changes.end());
                    int held = 0, most = 0;
                    for (const auto& [when, change] : changes) most = std::max(most, held += change);
                    CHECK(held == 0);
                    CHECK(most == (gpipe ? m : std::min<std::int64_t>(m, p - stage)));
                }
            }
            REQUIRE(held_bytes[true] > 0);
            CHECK(held_bytes[false] * static_cast<double>(m) == held_bytes[true] * static_cast<double>(std::min(m, p)));
        }
    }
}

TEST_CASE("two stages wait for every transfer if transfers block, and else for two or for those in a cycle",
          "[memory]") {
    // With f and b per pass and t per transfer, t ≤ f. gpipe overlaps all transfers but the last of each direction.
    // With 1F1B the gradients of microbatch i return to stage 0 before it begins i + 2, whose outputs stage 1 needs
    // right after i + 1: two transfers for two microbatches, whether or not they block.
    const double f = forward_s, b = backward_s;
    for (const std::int64_t m : {1, 2, 3, 6}) {
        for (const double t : {0.25, 1.0}) {
            const Model model = plain_model(2, 0, 25);  // 100 bytes for a sample
            const Cluster cluster = equal_layers(2, model, 100 / t, 0);
            const auto time_s = [&](PipelineSchedule schedule, Transfers transfers) {
                Plan plan = plan_of(schedule, 2, m, 1);
                plan.parallelism.pipeline.transfers = transfers;
                return simulate(lower(cluster, model, plan)).time.iteration_s;
            };
            CAPTURE(m, t);
            const auto passes = static_cast<double>(m) + 1;
            const auto gpipe = PipelineSchedule::gpipe, turns = PipelineSchedule::one_f_one_b;
            CHECK(time_s(gpipe, Transfers::overlapped) == Approx(passes * (f + b) + 2 * t).epsilon(1e-9));
            CHECK(time_s(gpipe, Transfers::blocking) ==
                  Approx(passes * (f + b) + 2 * static_cast<double>(m) * t).epsilon(1e-9));
            CHECK(time_s(gpipe, Transfers::as_schedule) == time_s(gpipe, Transfers::overlapped));
            CHECK(time_s(turns, Transfers::blocking) == Approx(passes * (f + b + t)).epsilon(1e-9));
            CHECK(time_s(turns, Transfers::as_schedule) == time_s(turns, Transfers::blocking));
            CHECK(time_s(turns, Transfers::overlapped) <= time_s(turns, Transfers::blocking));
        }
    }
}

TEST_CASE("a stage that blocks computes nothing while it sends", "[memory]") {
    for (const auto schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved,
                                PipelineSchedule::zero_bubble_h1}) {
        for (const std::int64_t p : {2, 4}) {
            const std::int64_t chunks = schedule == PipelineSchedule::interleaved ? 2 : 1;
            const Model model = plain_model(static_cast<std::size_t>(p * chunks), 0, 25);
            const Cluster cluster = equal_layers(p, model, 200, 0);
            for (const auto transfers : {Transfers::overlapped, Transfers::blocking}) {
                CAPTURE(static_cast<int>(schedule), p, static_cast<int>(transfers));
                Plan plan = plan_of(schedule, p, 2 * p, chunks);
                plan.parallelism.pipeline.transfers = transfers;
                const TaskGraph graph = build_iteration(lower(cluster, model, plan));
                const Timeline timeline = replay_isolated(cluster, graph, {3, 1});
                const auto stream = [&](TaskId id) { return graph.streams()[graph.tasks()[id].stream]; };
                bool beside = false;
                for (TaskId send = 0; send < graph.tasks().size(); ++send) {
                    if (stream(send).kind != StreamKind::transfer) continue;
                    const Interval& sent = timeline.measured()[send];
                    for (TaskId pass = 0; pass < graph.tasks().size(); ++pass) {
                        if (stream(pass).kind != StreamKind::compute || stream(pass).process != stream(send).process)
                            continue;
                        const Interval& computed = timeline.measured()[pass];
                        if (computed.start_s < sent.end_s - 1e-9 && computed.end_s > sent.start_s + 1e-9) beside = true;
                    }
                }
                CHECK(beside == (transfers == Transfers::overlapped));
            }
        }
    }
}

TEST_CASE("rows pass on a share each, and gather: no faster on equal links, as many bytes", "[memory]") {
    for (const std::int64_t rows : {2, 3, 4}) {
        for (const std::int64_t m : {1, 3}) {
            CAPTURE(rows, m);
            const Model model = plain_model(2, 0, 24);  // 96 bytes for a sample
            const Cluster cluster = equal_layers(2 * rows, model, 200, 0);
            Result results[2];
            for (const bool scatter : {false, true}) {
                Plan plan = plan_of(PipelineSchedule::gpipe, 2, m, 1, rows);
                plan.parallelism.layout.rows = rows;
                plan.parallelism.pipeline.scatter_gather = scatter;
                const Lowered training = lower(cluster, model, plan);
                const Boundary& boundary = training.arrangement.boundaries.front();
                CHECK(boundary.bytes == static_cast<std::uint64_t>(scatter ? 96 / rows : 96));
                CHECK(boundary.activations.has_value() == scatter);
                CHECK(boundary.gradients.has_value() == scatter);
                results[scatter] = simulate(training);
            }
            // Each row receives 96 bytes: from its partner, or a share from each row.
            CHECK(results[true].bytes_sent == results[false].bytes_sent);
            if (m == 1) CHECK(results[true].time.iteration_s == Approx(results[false].time.iteration_s).epsilon(1e-9));
        }
    }
}

TEST_CASE("rows pass on everything where shares would differ, or are what they have", "[memory]") {
    const auto boundary = [](std::int64_t elements, std::int64_t rows, bool sequence) {
        const Model model = plain_model(2, 0, elements);
        Plan plan = plan_of(PipelineSchedule::gpipe, 2, 1, 1, rows);
        plan.parallelism.layout.rows = rows;
        plan.parallelism.sequence = sequence;
        return lower(equal_layers(2 * rows, model, 200, 0), model, plan).arrangement.boundaries.front();
    };
    CHECK(boundary(25, 2, false).bytes == 100);
    CHECK_FALSE(boundary(25, 2, false).activations);
    CHECK(boundary(24, 1, false).bytes == 96);
    CHECK_FALSE(boundary(24, 1, false).activations);
    CHECK(boundary(24, 2, true).bytes == 48);
    CHECK_FALSE(boundary(24, 2, true).activations);
}

TEST_CASE("two stages with two microbatches and transfers take the time computed by hand", "[memory]") {
    // 1F1B: stage 0 runs F0 F1 B0 B1, stage 1 runs F0 B0 F1 B1. F0 reaches stage 1 at f+t, and its gradient is back at
    // 2f+b+2t; F1 follows B0 on stage 1, and its gradient is back at 3f+2b+2t. gpipe ends at the same time.
    for (const auto schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b}) {
        for (const double t : {0.25, 0.5, 1.0}) {
            CAPTURE(static_cast<int>(schedule), t);
            const Model model = plain_model(2, 0, 25);  // 100 bytes for a sample
            const Star star{200 / t, t / 4};
            const Cluster cluster = equal_layers(2, model, star.bandwidth_Bps, star.latency_s);
            REQUIRE(star.message_s(100) == Approx(t));
            Plan plan = plan_of(schedule, 2, 2, 1);
            plan.parallelism.pipeline.transfers = Transfers::overlapped;
            const Result result = simulate(lower(cluster, model, plan));
            const double f = forward_s, b = backward_s, iteration_s = 3 * f + 3 * b + 2 * t;
            CHECK(result.time.iteration_s == Approx(iteration_s).epsilon(1e-9));
            CHECK(result.bytes_sent == 400);
            // One of the two sends of each stage is concurrent with computation: with gpipe on stage 1, too, because B1
            // follows B0.
            // Half of t is latency, for which no sender waits.
            CHECK(*result.time.pipeline_bubble == Approx((f + b + t + t / 2) / iteration_s).epsilon(1e-9));
        }
    }
}

#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/work.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// The schedule ZB-H1 (P. Qi et al., "Zero bubble pipeline parallelism", ICLR 2024) on the timeline.

using namespace syncline;

namespace {

constexpr double no_time_Bps = 1e18;

/// Attention layers of s positions and width h: in units of 2sh² FLOP, w = 4, and with c = s/h the scores and the
/// weighted sum add 2c to f = 4 + 2c and 4c to b = 4 + 4c. FLOP are counted by hand, as in Korthikanti et al., appendix
/// A.
struct Layers {
    std::int64_t s, h;

    double unit_s() const { return 2.0 * static_cast<double>(s * h * h) / 1e9; }
    double ratio() const { return static_cast<double>(s) / static_cast<double>(h); }
    double forward_s() const { return (4 + 2 * ratio()) * unit_s(); }
    double inputs_s() const { return (4 + 4 * ratio()) * unit_s(); }
    double weights_s() const { return 4 * unit_s(); }

    Model model(std::int64_t count) const {
        Model made;
        made.name = "attention";
        made.element_bytes = 2;
        for (std::int64_t i = 0; i < count; ++i)
            made.layers.push_back({fmt::format("l{}", i), 4 * h * h, s * 4 * h * h + 2 * s * s * h, s * h, s * h,
                                   Attention{.positions = s, .width = h, .heads = 2, .scores = Scores::stored}});
        return made;
    }
};

Cluster computing(std::int64_t ranks, double bandwidth_Bps = no_time_Bps) {
    Cluster cluster = star_cluster(ranks, bandwidth_Bps, 0);
    cluster.device.flops_per_s = 1e9;
    cluster.device.memory_Bps = unlimited;
    return cluster;
}

Plan plan_of(std::int64_t stages, std::int64_t micro_batches, PipelineSchedule schedule) {
    Plan plan;
    plan.ranks = stages;
    plan.batch_per_rank = micro_batches;
    plan.compute = ComputeKind::roofline;
    plan.iterations = 3;
    plan.algorithm.name = "ring";
    plan.parallelism.pipeline = {stages, micro_batches, 1, schedule, {}};
    return plan;
}

}  // namespace

TEST_CASE("zero bubble: equal stages have a bubble of (p-1)(F + B - W), for several proportions") {
    for (const Layers& layers : {Layers{8, 64}, Layers{32, 32}, Layers{64, 16}, Layers{6, 2}}) {
        for (const std::int64_t p : {2, 3, 5}) {
            for (const std::int64_t m : {p, 2 * p + 1}) {
                for (const std::int64_t each : {1, 2}) {
                    CAPTURE(layers.s, layers.h, p, m, each);
                    const Model model = layers.model(p * each);
                    const Plan plan = plan_of(p, m, PipelineSchedule::zero_bubble_h1);
                    const Result result = simulate(lower(computing(p), model, plan));
                    const auto n = static_cast<double>(each), micro = static_cast<double>(m);
                    const double f = n * layers.forward_s(), b = n * layers.inputs_s(), w = n * layers.weights_s();
                    const double bubble_s = static_cast<double>(p - 1) * (f + b - w);
                    const double iteration_s = micro * (f + b + w) + bubble_s;
                    CHECK(result.time.iteration_s == Approx(iteration_s).epsilon(1e-6));
                    REQUIRE(result.time.pipeline_bubble);
                    CHECK(*result.time.pipeline_bubble == Approx(bubble_s / iteration_s).epsilon(1e-6));
                    // 1F1B: (p-1)(F + B + W).
                    const Result plain =
                        simulate(lower(computing(p), model, plan_of(p, m, PipelineSchedule::one_f_one_b)));
                    CHECK(plain.time.iteration_s - result.time.iteration_s ==
                          Approx(2 * static_cast<double>(p - 1) * w).epsilon(1e-6));
                }
            }
        }
    }
}

TEST_CASE("zero bubble: a full recomputation runs the forward pass once more before the gradients of inputs",
          "[memory]") {
    for (const Layers& layers : {Layers{8, 64}, Layers{32, 32}}) {
        for (const std::int64_t p : {2, 3, 5}) {
            for (const std::int64_t m : {p, 2 * p + 1}) {
                CAPTURE(layers.s, layers.h, p, m);
                Plan plan = plan_of(p, m, PipelineSchedule::zero_bubble_h1);
                plan.recomputation = Recomputation::full;
                const Result result = simulate(lower(computing(p), layers.model(2 * p), plan));
                const auto micro = static_cast<double>(m);
                const double f = 2 * layers.forward_s(), b = f + 2 * layers.inputs_s(), w = 2 * layers.weights_s();
                CHECK(result.time.iteration_s ==
                      Approx(micro * (f + b + w) + static_cast<double>(p - 1) * (f + b - w)).epsilon(1e-6));
            }
        }
    }
}

TEST_CASE("zero bubble: the same bytes are exchanged as with 1F1B, and work is counted exactly", "[memory]") {
    const Model model = Layers{16, 24}.model(4);
    for (const bool sequence : {false, true}) {
        for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
            CAPTURE(sequence, static_cast<int>(sharding));
            std::uint64_t sent[2] = {};
            for (const auto schedule : {PipelineSchedule::one_f_one_b, PipelineSchedule::zero_bubble_h1}) {
                Plan plan = plan_of(2, 4, schedule);
                plan.ranks = 8;
                plan.parallelism.layout.rows = 2;
                plan.parallelism.sequence = sequence;
                plan.parallelism.sharding = sharding;
                const Lowered training = lower(computing(8, 1e6), model, plan);
                const TaskGraph graph = build_iteration(training);
                CHECK(work_of(training).tasks == static_cast<double>(graph.tasks().size()));
                const Result simulated = simulate(training);
                sent[schedule == PipelineSchedule::one_f_one_b] = simulated.bytes_sent;
                plan.fidelity = Fidelity::folded;
                const Result folded = simulate(lower(computing(8, 1e6), model, plan));
                CHECK(folded.time.iteration_s == Approx(simulated.time.iteration_s).epsilon(1e-9));
                CHECK(folded.bytes_sent == simulated.bytes_sent);
            }
            CHECK(sent[0] == sent[1]);
        }
    }
}

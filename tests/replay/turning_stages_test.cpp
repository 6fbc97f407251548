#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/iteration/work.hpp"
#include "sim/lowering/open_plan.hpp"
#include "sim/lowering/pipeline.hpp"
#include "sim/workload/experts.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/replay/card_a.hpp"

// The schedules zb-v and dualpipe-v, in which microbatches pass down the stages and back, on the timeline.

using namespace syncline;
using namespace syncline::test;

namespace {

/// Feed-forward halves: forward pass, gradients of inputs and gradients of weights have two products of s·h·4h each.
struct Halves {
    std::int64_t s = 4, h = 8;

    double pass_s() const { return 2.0 * 2 * static_cast<double>(s * h * 4 * h) / 1e9; }
    Model model(std::int64_t count) const {
        Model made;
        made.name = "halves";
        for (std::int64_t i = 0; i < count; ++i)
            made.layers.push_back(
                feed_forward(fmt::format("l{}", i), {.positions = s, .width = h, .hidden = 4 * h, .norm = Norm::none}));
        return made;
    }
};

CardMachine machine_of(double link_bps) {
    return {.F = 1e9, .M = 1e30, .alpha_s = 0, .link_bps = link_bps};
}

Plan plan_of(std::int64_t stages, std::int64_t micro_batches, PipelineSchedule schedule) {
    Plan plan = card_plan(stages, micro_batches);
    plan.compute = ComputeKind::roofline;
    plan.iterations = 3;
    plan.parallelism.layout = {};
    plan.parallelism.pipeline = {stages, micro_batches, 2, schedule, {}};
    return plan;
}

constexpr double no_time_bps = 1e18;

/// Blocks of attention and experts on stages of two ranks, each of which is a node, so that only the exchanges of
/// experts take time.
struct Blocks {
    static constexpr std::int64_t s = 64, h = 32, blocks = 4;

    static Model model() {
        Model made;
        made.name = "blocks";
        for (std::int64_t i = 0; i < blocks; ++i) {
            made.layers.push_back(
                attention(fmt::format("attention{}", i), {.positions = s, .width = h, .heads = 4, .norm = Norm::none}));
            made.layers.push_back(experts(fmt::format("experts{}", i), {.positions = s,
                                                                        .width = h,
                                                                        .hidden = 2 * h,
                                                                        .experts = 2,
                                                                        .top_k = 1,
                                                                        .gated = false,
                                                                        .norm = Norm::none}));
        }
        return made;
    }
    /// Returns the time of all passes of a microbatch through a block: attention (4h² and 2sh multiply-accumulates per
    /// token; backward twice and 5/2 times that), router, and an expert of two matrices.
    static double block_s() {
        const double tokens = s, wide = h;
        return 2 * tokens * (3 * (4 * wide * wide + 2 * wide + 4 * wide * wide) + 3.5 * 2 * s * wide) / 1e9;
    }
    /// Returns the time of an all-to-all: half of a forward pass of the attention's matrices.
    static double exchange_s() { return 1.0 * s * 4 * h * h / 1e9; }
    static double exchange_Bps() { return s * h * 4 / 2.0 / exchange_s(); }

    /// Returns the time for which `more` microbatches lengthen an iteration of m.
    static double more_s(Plan plan, std::int64_t more, double inside_Bps) {
        Pipeline& pipeline = plan.parallelism.pipeline;
        Cluster cluster = machine_of(no_time_bps).cluster(pipeline.stages);
        cluster.node.devices = 2;
        cluster.node.links = NodeLinks::crossbar;
        cluster.node.link = {inside_Bps, 0};
        plan.ranks = 2 * pipeline.stages;
        plan.parallelism.experts.ranks = 2;
        plan.overlap = Overlap::wait_free;
        const double before_s = simulate(lower(cluster, model(), plan)).time.iteration_s;
        pipeline.micro_batches += more;
        plan.batch_per_rank += more;
        return simulate(lower(cluster, model(), plan)).time.iteration_s - before_s;
    }
};

}  // namespace

TEST_CASE("turning stages: with equal passes zb-v has no bubble, and dualpipe-v (p-1)(F&B + B - 3W)", "[memory]") {
    const Halves halves;
    const double f = halves.pass_s();
    for (const std::int64_t p : {2, 3, 5})
        for (const std::int64_t m : {2 * p, 2 * p + 1, 3 * p + 1}) {
            CAPTURE(p, m);
            const Cluster cluster = machine_of(no_time_bps).cluster(p);
            const double full_s = static_cast<double>(m) * 2 * 3 * f;  // two virtual stages of three passes
            const Result none =
                simulate(lower(cluster, halves.model(2 * p), plan_of(p, m, PipelineSchedule::zero_bubble_v)));
            CHECK(none.time.iteration_s == Approx(full_s).epsilon(1e-6));
            // F&B = 3f, B = 2f, W = f.
            const Result dual =
                simulate(lower(cluster, halves.model(2 * p), plan_of(p, m, PipelineSchedule::dualpipe_v)));
            CHECK(dual.time.iteration_s == Approx(full_s + static_cast<double>(p - 1) * 2 * f).epsilon(1e-6));
            REQUIRE(dual.time.pipeline_bubble);
            CHECK(*dual.time.pipeline_bubble ==
                  Approx(static_cast<double>(p - 1) * 2 * f / dual.time.iteration_s).epsilon(1e-6));
        }
}

TEST_CASE("dualpipe: on P stages it is dualpipe-v on half of them, with the paper's bubble and activations",
          "[memory]") {
    const Halves halves;
    const double f = halves.pass_s();
    for (const std::int64_t stages : {4, 6, 8})
        for (const std::int64_t m : {2 * stages, 2 * stages + 2}) {
            CAPTURE(stages, m);
            const Cluster cluster = machine_of(no_time_bps).cluster(stages);
            Plan plan = plan_of(stages, m, PipelineSchedule::dualpipe);
            plan.parallelism.pipeline.virtual_stages = 1;
            Plan limited = plan;
            OpenPlan open;
            open.grid.columns = 1;
            REQUIRE(settle(plan, open).empty());
            const Result result = simulate(lower(cluster, halves.model(stages), plan));
            // Each rank runs m/2 microbatches of either direction, F + B = 3f. The bubble is (P/2-1)(F&B + B - 3W) with
            // F&B = 3f, B = 2f, W = f (arXiv 2412.19437, table 2).
            const double full_s = static_cast<double>(m) * 3 * f,
                         bubble_s = static_cast<double>(stages / 2 - 1) * 2 * f;
            CHECK(result.time.iteration_s == Approx(full_s + bubble_s).epsilon(1e-6));
            // Twice the parameters of a stage, PP + 1 activations, and all samples of the pipeline.
            CHECK(plan.global_batch() == m);
            const auto number = static_cast<std::uint32_t>(stages);
            CHECK(peak_passes(plan.parallelism.pipeline, 0) == number + 1);
            const double layer_bytes = 4.0 * static_cast<double>(8 * halves.h * halves.h + 5 * halves.h);
            CHECK(result.memory.weights_bytes == Approx(2 * layer_bytes));
            // The batch of all ranks stays what it is, and so does the size of a microbatch.
            open.batch = 3 * m;
            open.micro_batch_size = 3;
            REQUIRE(settle(limited, open).empty());
            CHECK(limited.global_batch() == 3 * m);
            CHECK(limited.parallelism.pipeline.micro_batches == m / 2);
        }
}

TEST_CASE("turning stages: activations of 2p microbatches of a virtual stage with zb-v, and of 2p + 1 with dualpipe-v",
          "[memory]") {
    for (const std::int64_t p : {2, 3, 6})
        for (const std::int64_t m : {2 * p, 4 * p}) {
            for (std::int64_t stage = 0; stage < p; ++stage) {
                CAPTURE(p, m, stage);
                const auto number = static_cast<std::uint32_t>(stage);
                CHECK(peak_passes({p, m, 2, PipelineSchedule::zero_bubble_v, {}}, number) == 2 * p);
                CHECK(peak_passes({p, m, 2, PipelineSchedule::dualpipe_v, {}}, number) == 2 * p + 1);
            }
            // All layers keep as much, and stage 0 has the first and the last of them.
            const Halves halves;
            const Cluster cluster = machine_of(no_time_bps).cluster(p);
            const auto activations = [&](PipelineSchedule schedule) {
                return simulate(lower(cluster, halves.model(2 * p), plan_of(p, m, schedule))).memory.activations_bytes;
            };
            const double each = activations(PipelineSchedule::zero_bubble_v) / static_cast<double>(2 * p);
            CHECK(activations(PipelineSchedule::dualpipe_v) == Approx(each * static_cast<double>(2 * p + 1)));
        }
}

TEST_CASE("turning stages: microbatches pass each virtual stage once, and the turn needs no transfer", "[memory]") {
    const Halves halves;
    for (const PipelineSchedule schedule : {PipelineSchedule::zero_bubble_v, PipelineSchedule::dualpipe_v})
        for (const std::int64_t p : {2, 4}) {
            const std::int64_t m = 2 * p + 1;
            CAPTURE(static_cast<int>(schedule), p);
            for (std::int64_t stage = 0; stage < p; ++stage) {
                std::vector<int> forward(static_cast<std::size_t>(2 * m)), backward = forward, weights = forward;
                for (const Slot& slot : slots({p, m, 2, schedule, {}}, static_cast<std::uint32_t>(stage))) {
                    const std::size_t pass = slot.virtual_rank * static_cast<std::size_t>(m) + slot.micro_batch;
                    if (slot.forward) ++forward[pass];
                    if (!slot.forward && slot.gradients != Gradients::weights) ++backward[pass];
                    if (slot.releases()) ++weights[pass];
                }
                const std::vector<int> once(static_cast<std::size_t>(2 * m), 1);
                CHECK(forward == once);
                CHECK(backward == once);
                CHECK(weights == once);
            }
            const Cluster cluster = machine_of(1e9).cluster(p);
            const Plan plan = plan_of(p, m, schedule);
            const Lowered training = lower(cluster, halves.model(2 * p), plan);
            CHECK(work_of(training).tasks == static_cast<double>(build_iteration(training).tasks().size()));
            // 2(p-1) boundaries between stages, forward and backward, elements of 4 B.
            CHECK(simulate(training).bytes_sent ==
                  static_cast<std::uint64_t>(m * 2 * 2 * (p - 1) * halves.s * halves.h * 4));
        }
}

TEST_CASE("turning stages: in pairs of passes experts' exchanges overlap with the computation of the other pass",
          "[memory]") {
    const auto more_s = [](PipelineSchedule schedule, double inside_Bps) {
        return Blocks::more_s(plan_of(2, 6, schedule), 1, inside_Bps);
    };
    const double compute_s = 2 * Blocks::block_s();
    CHECK(more_s(PipelineSchedule::dualpipe_v, no_time_bps / 8) == Approx(compute_s).epsilon(1e-6));
    CHECK(more_s(PipelineSchedule::dualpipe_v, Blocks::exchange_Bps()) == Approx(compute_s).epsilon(1e-6));
    // Without pairs at least the dispatches of both passes of both virtual stages are exposed.
    CHECK(more_s(PipelineSchedule::zero_bubble_v, Blocks::exchange_Bps()) > compute_s + 4 * Blocks::exchange_s());
}

TEST_CASE("pairs: a forward pass beside the backward pass of another microbatch hides experts' exchanges", "[memory]") {
    Plan plan = plan_of(1, 6, PipelineSchedule::one_f_one_b);
    plan.parallelism.pipeline.virtual_stages = 1;
    // Four all-to-alls for each of four blocks.
    const double compute_s = 4 * Blocks::block_s(), exchanges_s = 4 * 4 * Blocks::exchange_s();
    CHECK(Blocks::more_s(plan, 1, Blocks::exchange_Bps()) == Approx(compute_s + exchanges_s).epsilon(1e-6));
    plan.parallelism.pipeline.pairs = true;
    CHECK(Blocks::more_s(plan, 1, Blocks::exchange_Bps()) == Approx(compute_s).epsilon(1e-6));
    CHECK(peak_passes(plan.parallelism.pipeline, 0) == 2);
    // Two stages with half of the blocks; a microbatch more on each of them.
    Plan interleaved = plan_of(2, 8, PipelineSchedule::interleaved);
    interleaved.parallelism.pipeline.pairs = true;
    CHECK(Blocks::more_s(interleaved, 2, Blocks::exchange_Bps()) == Approx(compute_s).epsilon(1e-6));
}

TEST_CASE("turning stages: folding, rows, sequences, optimizer sharding and recomputation go together", "[memory]") {
    const Halves halves;
    for (const PipelineSchedule schedule : {PipelineSchedule::zero_bubble_v, PipelineSchedule::dualpipe_v})
        for (const bool sequence : {false, true})
            for (const Recomputation recomputation : {Recomputation::none, Recomputation::full})
                for (const Sharding sharding : {Sharding::none, Sharding::optimizer}) {
                    CAPTURE(static_cast<int>(schedule), sequence, static_cast<int>(recomputation),
                            static_cast<int>(sharding));
                    Plan plan = plan_of(3, 7, schedule);
                    plan.ranks = 12;
                    plan.overlap = Overlap::wait_free;
                    plan.recomputation = recomputation;
                    plan.parallelism.layout.rows = 2;
                    plan.parallelism.sequence = sequence;
                    plan.parallelism.sharding = sharding;
                    const Model model = [&] {
                        Model made = halves.model(12);
                        made.layers[0] = attention("attention", {.positions = 4, .width = 8, .heads = 2});
                        return made;
                    }();
                    const Cluster cluster = machine_of(1e8).cluster(12);
                    const Lowered training = lower(cluster, model, plan);
                    CHECK(work_of(training).tasks == static_cast<double>(build_iteration(training).tasks().size()));
                    const Result simulated = simulate(training);
                    plan.fidelity = Fidelity::folded;
                    const Result folded = simulate(lower(cluster, model, plan));
                    CHECK(folded.time.iteration_s == Approx(simulated.time.iteration_s).epsilon(1e-9));
                    CHECK(folded.bytes_sent == simulated.bytes_sent);
                }
}

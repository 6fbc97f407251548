#include <algorithm>
#include <map>

#include "sim/explain/explain.hpp"
#include "sim/explain/stage_passes.hpp"
#include "sim/report/parts.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// The memory of stages over an iteration, as pages draw it: a layer keeps 100 bytes for a microbatch.

using namespace syncline;

namespace {

Lowered lowered_of(PipelineSchedule schedule, std::int64_t p, std::int64_t m, std::int64_t v, std::int64_t layers = 1,
                   std::int64_t parameters = 0) {
    const Model model = plain_model(static_cast<std::size_t>(p * v * layers), parameters, 25);
    const std::vector<double> forward_s(model.layers.size(), 1), backward_s(model.layers.size(), 2);
    Plan plan;
    plan.ranks = p;
    plan.batch_per_rank = m;
    plan.compute = ComputeKind::measured;
    plan.iterations = 1;
    plan.algorithm.name = "ring";
    plan.parallelism.pipeline = {p, m, v, schedule, {}};
    return lower(timed_star(p, 1e18, 0, model, forward_s, backward_s), model, plan);
}

/// Returns the most bytes that a stage holds at a time, from the times of its passes alone.
double most_by_times(const TimelineView& view, const Lowered& training, std::uint32_t stage) {
    const std::vector<Slot> order = slots(training.plan.parallelism.pipeline, stage);
    std::vector<std::pair<double, double>> changes;
    for (const TimedPass& pass : stage_passes(view, training, stage)) {
        constexpr double half_s = 0.5;  // ends are counted before the starts at the same time
        if (order[pass.slot].forward) changes.push_back({pass.start_s + half_s, 100});
        if (order[pass.slot].releases()) changes.push_back({pass.end_s, -100});
    }
    std::sort(changes.begin(), changes.end());
    double held = 0, most = 0;
    for (const auto& [time_s, bytes] : changes) most = std::max(most, held += bytes);
    CHECK(held == 0);
    return most;
}

}  // namespace

TEST_CASE("the peak of memory over time is the memory's own figure, and that of the passes' times", "[memory]") {
    constexpr std::int64_t p = 4, m = 8;
    const std::map<PipelineSchedule, std::int64_t> chunks{
        {PipelineSchedule::gpipe, 1}, {PipelineSchedule::one_f_one_b, 1}, {PipelineSchedule::interleaved, 3}};
    for (const auto& [schedule, v] : chunks) {
        const Lowered training = lowered_of(schedule, p, m, v);
        TimelineView view;
        explain(training, {}, &view);
        for (std::uint32_t stage = 0; stage < p; ++stage) {
            CAPTURE(static_cast<int>(schedule), stage);
            const StageMemory memory = stage_memory(view, training, stage);
            // gpipe holds all microbatches; 1F1B p - s of them; interleaved, before its first backward pass, a warm-up
            // of 2(p-1-s) + (v-1)p passes and one more.
            const std::int64_t held = schedule == PipelineSchedule::gpipe ? m
                                      : schedule == PipelineSchedule::one_f_one_b
                                          ? p - stage
                                          : 2 * (p - 1 - stage) + (v - 1) * p + 1;
            CHECK(memory.held_passes == held);
            double most = 0;
            for (const MemoryStep& step : memory.steps) most = std::max(most, step.activations_bytes);
            CHECK(most == 100.0 * static_cast<double>(held));
            CHECK(most == memory.memory.activations_bytes);
            CHECK(most == most_by_times(view, training, stage));
            CHECK(memory.steps.back().activations_bytes == 0);
        }
    }
}

TEST_CASE("stages run their passes at the times of a pencil", "[memory]") {
    // 1F1B, two stages, two microbatches, 1 s forward and 2 s backward, free transfers:
    //   stage 0: F1 0-1, F2 1-2,        B1 4-6, B2 7-9
    //   stage 1:         F1 1-2, B1 2-4, F2 4-5, B2 5-7
    const Lowered training = lowered_of(PipelineSchedule::one_f_one_b, 2, 2, 1);
    TimelineView view;
    explain(training, {}, &view);
    const Json stages = page_stages(view, training, {});
    const double tick_s = stages["tick_s"];
    const std::vector<std::vector<std::vector<double>>> wanted{
        {{0, 0, 0, 1}, {0, 1, 1, 2}, {1, 0, 4, 6}, {1, 1, 7, 9}},
        {{0, 0, 1, 2}, {1, 0, 2, 4}, {0, 1, 4, 5}, {1, 1, 5, 7}}};
    for (std::size_t stage = 0; stage < 2; ++stage) {
        const Json& passes = stages["stages"][stage]["passes"];
        REQUIRE(passes.size() == 20);
        for (std::size_t i = 0; i < 4; ++i) {
            CAPTURE(stage, i);
            CHECK(passes[5 * i] == wanted[stage][i][0]);
            CHECK(passes[5 * i + 2] == wanted[stage][i][1]);
            CHECK(passes[5 * i + 3].get<double>() * tick_s == Approx(wanted[stage][i][2]).margin(1e-4));
            CHECK(passes[5 * i + 4].get<double>() * tick_s == Approx(wanted[stage][i][3]).margin(1e-4));
        }
    }
    CHECK(stages["stages"][1]["busy_s"] == 6);
}

TEST_CASE("zero bubble: gradients of inputs and of weights are passes of their own", "[memory]") {
    const Lowered training = lowered_of(PipelineSchedule::zero_bubble_h1, 2, 4, 1, 2, 1);
    TimelineView view;
    explain(training, {}, &view);
    // The first layer of the model has no gradients of inputs: two layers on each stage, which keep 200 bytes.
    for (std::uint32_t stage = 0; stage < 2; ++stage) {
        const std::vector<TimedPass> passes = stage_passes(view, training, stage);
        REQUIRE(passes.size() == 12);
        double sum_s = 0;
        for (std::size_t i = 0; i < passes.size(); ++i) {
            CHECK(passes[i].slot == i);
            sum_s += passes[i].end_s - passes[i].start_s;
        }
        CHECK(sum_s == Approx(4 * 2 * (1 + 2)));  // microbatches × layers × (forward + backward)
        CHECK(stage_memory(view, training, stage).memory.activations_bytes == 2 * most_by_times(view, training, stage));
    }
}

TEST_CASE("with one microbatch activations grow and shrink with each layer", "[memory]") {
    // Three layers of 100 bytes, 1 s forward and 2 s backward: the third layer's backward pass ends at 5 s.
    const Lowered training = lowered_of(PipelineSchedule::one_f_one_b, 1, 1, 1, 3);
    TimelineView view;
    explain(training, {}, &view);
    const StageMemory memory = stage_memory(view, training, 0);
    const std::vector<std::pair<double, double>> wanted{{0, 0},   {0, 100}, {1, 200}, {2, 300},
                                                        {3, 300}, {5, 200}, {7, 100}, {9, 0}};
    REQUIRE(memory.steps.size() >= wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CAPTURE(i);
        CHECK(memory.steps[i].time_s == Approx(wanted[i].first).margin(1e-9));
        CHECK(memory.steps[i].activations_bytes == Approx(wanted[i].second).margin(1e-6));
    }
    CHECK(memory.steps.back().activations_bytes == 0);
    CHECK(memory.memory.activations_bytes == 300);
    CHECK(memory.peak_s == Approx(3));
}

TEST_CASE("with recomputation the peak over time is still the memory's figure", "[memory]") {
    const Lowered plain = lowered_of(PipelineSchedule::one_f_one_b, 1, 1, 1, 3);
    Plan plan = plain.plan;
    plan.recomputation = Recomputation::full;
    const Lowered training = lower(plain.cluster, plain.model, plan);
    TimelineView view;
    explain(training, {}, &view);
    const StageMemory memory = stage_memory(view, training, 0);
    double most = 0;
    for (const MemoryStep& step : memory.steps) most = std::max(most, step.activations_bytes);
    CHECK(most == memory.memory.activations_bytes);
    CHECK(memory.steps.back().activations_bytes == 0);
}

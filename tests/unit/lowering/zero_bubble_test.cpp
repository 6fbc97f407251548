#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/pipeline.hpp"
#include "tests/catch.hpp"

// The schedule ZB-H1 of P. Qi et al., "Zero bubble pipeline parallelism", ICLR 2024.

using namespace syncline;

namespace {

Pipeline zero_bubble(std::int64_t stages, std::int64_t micro_batches) {
    return {stages, micro_batches, 1, PipelineSchedule::zero_bubble_h1, {}};
}

/// Returns the time from one iteration to the next of stages that start an iteration when their last one has ended, for
/// times of the passes and free transfers. A clock of the test's own: a stage runs its slots in order; a forward pass
/// waits for that of the previous stage, gradients of inputs for those of the next stage.
std::int64_t period(const Pipeline& pipeline, std::int64_t f, std::int64_t b, std::int64_t w) {
    const auto p = static_cast<std::uint32_t>(pipeline.stages);
    constexpr std::size_t iterations = 6;
    std::vector<std::vector<Slot>> orders;
    for (std::uint32_t stage = 0; stage < p; ++stage) orders.push_back(slots(pipeline, stage));
    std::map<std::tuple<std::size_t, bool, std::uint32_t, std::uint32_t>, std::int64_t> done;
    std::vector<std::int64_t> now(p, 0), ends(iterations, 0);
    std::vector<std::size_t> next(p, 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::uint32_t stage = 0; stage < p; ++stage) {
            const std::size_t length = orders[stage].size();
            for (; next[stage] < iterations * length; ++next[stage], moved = true) {
                const std::size_t iteration = next[stage] / length;
                const Slot& slot = orders[stage][next[stage] % length];
                const bool waits = slot.forward ? stage > 0 : slot.gradients == Gradients::inputs && stage + 1 < p;
                if (waits) {
                    const auto needed =
                        done.find({iteration, slot.forward, slot.forward ? stage - 1 : stage + 1, slot.micro_batch});
                    if (needed == done.end()) break;
                    now[stage] = std::max(now[stage], needed->second);
                }
                now[stage] += slot.forward ? f : slot.gradients == Gradients::inputs ? b : w;
                if (slot.forward || slot.gradients == Gradients::inputs)
                    done[{iteration, slot.forward, stage, slot.micro_batch}] = now[stage];
                if (stage == 0) ends[iteration] = now[stage];
            }
        }
    }
    for (std::uint32_t stage = 0; stage < p; ++stage) REQUIRE(next[stage] == iterations * orders[stage].size());
    return ends[iterations - 1] - ends[iterations - 2];
}

}  // namespace

TEST_CASE("zero bubble: each microbatch has a forward pass, then gradients of inputs, then gradients of weights",
          "[memory]") {
    for (std::int64_t p = 2; p <= 8; ++p)
        for (const std::int64_t m : {1, 2, 3, 7, 8, 17})
            for (std::uint32_t stage = 0; stage < p; ++stage) {
                CAPTURE(p, m, stage);
                std::map<std::uint32_t, int> passed;
                for (const Slot& slot : slots(zero_bubble(p, m), stage)) {
                    const int step = slot.forward ? 0 : slot.gradients == Gradients::inputs ? 1 : 2;
                    REQUIRE(slot.gradients != (slot.forward ? Gradients::weights : Gradients::all));
                    REQUIRE(passed[slot.micro_batch]++ == step);
                }
                REQUIRE(passed.size() == static_cast<std::size_t>(m));
                for (const auto& [micro_batch, passes] : passed) REQUIRE(passes == 3);
            }
}

TEST_CASE("zero bubble: the orders of three stages with four microbatches equal those written out", "[memory]") {
    // Stage s delays W by s microbatches, which keeps as many in flight on every stage.
    const auto text = [](const std::vector<Slot>& order) {
        std::string result;
        for (const Slot& slot : order) {
            result += slot.forward ? 'F' : slot.gradients == Gradients::inputs ? 'B' : 'W';
            result += std::to_string(slot.micro_batch + 1);
        }
        return result;
    };
    CHECK(text(slots(zero_bubble(3, 4), 0)) == "F1F2F3B1W1F4B2W2B3W3B4W4");
    CHECK(text(slots(zero_bubble(3, 4), 1)) == "F1F2B1F3B2W1F4B3W2B4W3W4");
    CHECK(text(slots(zero_bubble(3, 4), 2)) == "F1B1F2B2F3B3W1F4B4W2W3W4");
}

TEST_CASE("zero bubble: equal stages take m(f + b + w) and a bubble of (p-1)(f + b - w)", "[memory]") {
    for (std::int64_t p = 1; p <= 7; ++p)
        for (const std::int64_t m : {p, p + 1, 2 * p, 3 * p + 1})
            for (const auto& [f, b, w] : {std::tuple{1, 1, 1}, {2, 2, 1}, {4, 5, 3}, {3, 2, 1}, {1, 2, 1}, {5, 1, 4}}) {
                CAPTURE(p, m, f, b, w);
                if (p == 1) {
                    CHECK(slots(zero_bubble(p, m), 0) == slots({1, m, 1, PipelineSchedule::one_f_one_b, {}}, 0));
                    continue;
                }
                CHECK(period(zero_bubble(p, m), f, b, w) == m * (f + b + w) + (p - 1) * (f + b - w));
            }
    // Gradients of weights that take longer than a forward pass leave a bubble of (p-1)·b.
    for (std::int64_t p = 2; p <= 5; ++p)
        for (const auto& [f, b, w] : {std::tuple{1, 1, 2}, {1, 3, 2}, {2, 2, 5}})
            CHECK(period(zero_bubble(p, 2 * p), f, b, w) == 2 * p * (f + b + w) + (p - 1) * b);
}

TEST_CASE("zero bubble: every stage holds as many microbatches as the first stage of 1F1B", "[memory]") {
    for (std::int64_t p = 2; p <= 8; ++p)
        for (const std::int64_t m : {1, 2, 5, 8, 24})
            for (std::uint32_t stage = 0; stage < p; ++stage)
                CHECK(peak_passes(zero_bubble(p, m), stage) == std::min(p, m));
    // In memory: chains of layers that keep 100 bytes each.
    Cluster cluster = star_cluster(8, 1e9, 1e-6);
    cluster.device.flops_per_s = cluster.device.memory_Bps = 1e12;
    for (const std::int64_t p : {2, 4}) {
        Model model;
        model.element_bytes = 1;
        for (std::int64_t i = 0; i < p; ++i) model.layers.push_back({"layer", 100, 100, 100, 100});
        Plan plan;
        plan.ranks = p;
        plan.batch_per_rank = 12;
        plan.parallelism.pipeline = zero_bubble(p, 12);
        const double held = memory_of(lower(cluster, model, plan)).activations_bytes;
        plan.parallelism.pipeline.schedule = PipelineSchedule::one_f_one_b;
        CHECK(held == memory_of(lower(cluster, model, plan)).activations_bytes);
        CHECK(held == 100.0 * static_cast<double>(p));
    }
}

TEST_CASE("zero bubble: what is computed again stays until the gradients of weights", "[memory]") {
    Cluster cluster = star_cluster(8, 1e9, 1e-6);
    cluster.device.flops_per_s = cluster.device.memory_Bps = 1e12;
    Model model;
    model.element_bytes = 1;
    for (std::int64_t i = 0; i < 6; ++i) model.layers.push_back({"layer", 100, 100, 100, 100});
    Plan plan;
    plan.ranks = 2;
    plan.batch_per_rank = 12;
    plan.parallelism.pipeline = zero_bubble(2, 12);
    const auto held = [&](Recomputation recomputation, std::vector<std::int64_t> layers) {
        plan.recomputation = recomputation;
        plan.parallelism.pipeline.layers = std::move(layers);
        return memory_of(lower(cluster, model, plan)).activations_bytes;
    };
    // Layers keep 100 B each, segments of two layers 100 B. Both stages have two microbatches in flight; the first has
    // the other layer of each segment for one of them, the last for both.
    CHECK(held(Recomputation::none, {4, 2}) == 2 * 400);
    CHECK(held(Recomputation::full, {4, 2}) == 2 * 200 + 200);
    CHECK(held(Recomputation::none, {2, 4}) == 2 * 400);
    CHECK(held(Recomputation::full, {2, 4}) == 2 * 200 + 2 * 200);
}

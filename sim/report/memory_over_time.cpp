#include <algorithm>
#include <cmath>

#include "sim/explain/stage_passes.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/report/parts.hpp"

namespace syncline {

namespace {

/// Returns how many passes' activations a stage holds during each of its passes: forward passes that have begun, and
/// whose backward pass has not ended before.
std::vector<std::int64_t> held_passes(const std::vector<HeldActivations>& all) {
    std::vector<std::int64_t> counts;
    std::int64_t held = 0;
    for (const HeldActivations& pass : all) {
        held += pass.slot.forward ? 1 : 0;
        counts.push_back(held);
        held -= pass.slot.releases() ? 1 : 0;
    }
    return counts;
}

/// Returns the steps of one microbatch on one stage, by layer, on top of `always`. A layer's activations are there from
/// the start of its forward pass to the end of its backward pass, and during the backward pass what is computed again.
std::vector<MemoryStep> steps_by_layer(const TimelineView& view, const Lowered& training, double always,
                                       double during_backward) {
    const std::vector<double> kept = kept_by_layer(training);
    std::vector<double> forward_s(kept.size(), -1), backward_s(kept.size(), -1);
    double turn_s = -1;  // start of the backward pass
    const std::vector<Interval>& times = view.timeline.recorded.back();
    for (StreamId stream = 0; stream < view.graph.streams().size(); ++stream) {
        const Stream& of = view.graph.streams()[stream];
        if (of.process != 0 || of.kind != StreamKind::compute) continue;
        for (const TaskId id : view.graph.tasks_of(stream)) {
            const Task& task = view.graph.tasks()[id];
            const double start_s = std::max(0.0, times[id].start_s - view.window.start_s);
            if (task.phase == Phase::forward && forward_s[task.subject] < 0) forward_s[task.subject] = start_s;
            if (task.phase != Phase::backward && task.phase != Phase::recompute) continue;
            if (turn_s < 0) turn_s = start_s;
            if (task.phase == Phase::backward) backward_s[task.subject] = times[id].end_s - view.window.start_s;
        }
    }
    std::vector<MemoryStep> steps{{0, always}};
    double held = 0, freed = 0;
    for (std::size_t i = 0; i < kept.size(); ++i)
        if (forward_s[i] >= 0) steps.push_back({forward_s[i], always + (held += kept[i])});
    steps.push_back({turn_s, always + during_backward});
    for (std::size_t i = kept.size(); i-- > 0;)
        if (backward_s[i] >= 0)
            steps.push_back({backward_s[i], always + std::max(0.0, during_backward - (freed += kept[i]))});
    steps.push_back({steps.back().time_s, always});
    return steps;
}

}  // namespace

StageMemory stage_memory(const TimelineView& view, const Lowered& training, std::uint32_t stage) {
    StageMemory result;
    result.memory = memory_of(training, stage);
    const std::vector<HeldActivations> held = held_activations(training, stage);
    const std::vector<std::int64_t> counts = held_passes(held);
    double most = 0;
    for (const HeldActivations& pass : held) most = std::max(most, pass.during_bytes);
    // Copies of torch.autocast are there all the time.
    const double always = result.memory.activations_bytes - most;
    if (held.size() == 2) {
        result.steps = steps_by_layer(view, training, always, held.back().during_bytes);
        result.by_layer = true;
        result.held_passes = 1;
        result.forward = false;
        for (const TimedPass& pass : stage_passes(view, training, stage))
            if (pass.slot == 1) result.peak_s = pass.start_s;
        return result;
    }
    result.steps.push_back({0, always});
    double peak = -1;
    for (const TimedPass& pass : stage_passes(view, training, stage)) {
        const HeldActivations& of = held[pass.slot];
        result.steps.push_back({pass.start_s, always + of.during_bytes});
        result.steps.push_back({pass.end_s, always + of.after_bytes});
        if (of.during_bytes <= peak) continue;
        peak = of.during_bytes;
        result.peak_s = pass.start_s;
        result.held_passes = counts[pass.slot];
        result.forward = of.slot.forward;
        result.micro_batch = of.slot.micro_batch;
    }
    return result;
}

Json page_memory(const TimelineView& view, const Lowered& training, const PageLimits& limits) {
    const double window_s = view.window.end_s - view.window.start_s;
    if (window_s <= 0 || view.timeline.recorded.empty()) return nullptr;
    const double tick_s = window_s / 1e6;
    std::vector<StageMemory> all;
    std::uint32_t fullest = 0;
    for (std::uint32_t stage = 0; stage < training.arrangement.stages; ++stage) {
        all.push_back(stage_memory(view, training, stage));
        if (all[stage].memory.total_bytes() > all[fullest].memory.total_bytes()) fullest = stage;
    }
    Json stages = Json::array();
    for (const std::uint32_t stage : picked(training.arrangement.stages, limits.processes, fullest)) {
        const StageMemory& one = all[stage];
        Json steps = Json::array();
        for (const MemoryStep& step : one.steps) {
            steps.push_back(static_cast<std::int64_t>(std::llround(step.time_s / tick_s)));
            steps.push_back(static_cast<std::int64_t>(step.activations_bytes));
        }
        stages.push_back({{"stage", stage},
                          {"weights", one.memory.weights_bytes},
                          {"gradients", one.memory.gradients_bytes},
                          {"optimizer", one.memory.optimizer_bytes},
                          {"activations", one.memory.activations_bytes},
                          {"peak_s", one.peak_s},
                          {"held_passes", one.held_passes},
                          {"forward", one.forward},
                          {"micro_batch", one.micro_batch},
                          {"by_layer", one.by_layer},
                          {"steps", std::move(steps)}});
    }
    return {{"window_s", window_s},
            {"tick_s", tick_s},
            {"device_bytes", number_or_null(all[fullest].memory.device_bytes)},
            {"fullest", fullest},
            {"count", training.arrangement.stages},
            {"virtual_stages", training.arrangement.virtual_stages},
            {"micro_batches", training.arrangement.micro_batches},
            {"stages", std::move(stages)}};
}

}  // namespace syncline

#include "sim/explain/stage_passes.hpp"

#include <algorithm>

namespace syncline {

namespace {

/// Assigns the tasks of a stage, in the order of its compute stream, to its passes.
class PassFinder {
public:
    PassFinder(const Lowered& training, std::uint32_t stage)
        : arrangement_(training.arrangement), slots_(slots(training.plan.parallelism.pipeline, stage)) {}

    /// Returns the index of the task's pass in slots(); their number if it belongs to none.
    std::size_t next(const Task& task) {
        const bool forward = task.phase == Phase::forward;
        if (!forward && task.phase != Phase::backward && task.phase != Phase::recompute) return slots_.size();
        // The gradients of weights may directly follow those of inputs, which end with the first layer, perhaps in
        // several tasks.
        const bool again = at_ < slots_.size() && task.phase == Phase::backward &&
                           slots_[at_].gradients == Gradients::inputs && begins_with(layer_) &&
                           (task.subject > layer_ || (task.subject == layer_ && alone(layer_)));
        const std::size_t paired = at_ > 0 && slots_[at_ - 1].paired ? 1 : 0;
        for (std::size_t i = again ? at_ + 1 : at_ - paired; i < slots_.size(); ++i) {
            if (!matches(slots_[i], task, forward)) continue;
            at_ = i;
            layer_ = task.subject;
            return i;
        }
        return again ? at_ : slots_.size();
    }

private:
    bool matches(const Slot& slot, const Task& task, bool forward) const {
        if (slot.forward != forward || slot.micro_batch != task.micro_batch) return false;
        return arrangement_.layers[task.subject].virtual_stage / arrangement_.stages == slot.virtual_rank;
    }

    /// Returns whether a virtual stage begins with this layer.
    bool begins_with(std::uint32_t layer) const {
        return arrangement_.first_layer[arrangement_.layers[layer].virtual_stage] == layer;
    }

    /// Returns whether a virtual stage has this layer only.
    bool alone(std::uint32_t layer) const {
        const std::uint32_t part = arrangement_.layers[layer].virtual_stage;
        return arrangement_.first_layer[part + 1] - arrangement_.first_layer[part] == 1;
    }

    const Arrangement& arrangement_;
    std::vector<Slot> slots_;
    std::size_t at_ = 0;
    std::uint32_t layer_ = 0;
};

}  // namespace

std::vector<TimedPass> stage_passes(const TimelineView& view, const Lowered& training, std::uint32_t stage) {
    std::vector<TimedPass> passes;
    const std::vector<Interval>& times = view.timeline.recorded.back();
    const double length_s = view.window.end_s - view.window.start_s;
    const ProcessId rank = stage * training.arrangement.stage_ranks;
    const std::size_t all = slots(training.plan.parallelism.pipeline, stage).size();
    for (StreamId stream = 0; stream < view.graph.streams().size(); ++stream) {
        const Stream& of = view.graph.streams()[stream];
        if (of.process != rank || of.kind != StreamKind::compute) continue;
        PassFinder finder(training, stage);
        for (const TaskId task : view.graph.tasks_of(stream)) {
            if (task >= times.size()) continue;
            const std::size_t slot = finder.next(view.graph.tasks()[task]);
            const double start_s = std::max(0.0, times[task].start_s - view.window.start_s);
            const double end_s = std::min(length_s, times[task].end_s - view.window.start_s);
            if (slot == all || end_s <= start_s) continue;
            const auto known =
                std::find_if(passes.rbegin(), passes.rend(), [&](const TimedPass& one) { return one.slot == slot; });
            if (known == passes.rend())
                passes.push_back({slot, start_s, end_s});
            else
                known->end_s = std::max(known->end_s, end_s);
        }
    }
    return passes;
}

std::vector<Interval> gradient_times(const TimelineView& view, const Lowered& training, std::uint32_t stage,
                                     double resolution_s) {
    std::vector<Interval> all;
    const ProcessId rank = stage * training.arrangement.stage_ranks;
    const double length_s = view.window.end_s - view.window.start_s;
    for (StreamId stream = 0; stream < view.graph.streams().size(); ++stream) {
        const Stream& of = view.graph.streams()[stream];
        const bool gradients = of.kind == StreamKind::exchange || of.kind == StreamKind::push ||
                               of.kind == StreamKind::pull || of.kind == StreamKind::weights;
        if (of.process != rank || !gradients) continue;
        for (const TaskId task : view.graph.tasks_of(stream)) {
            const Interval& time = view.timeline.recorded.back()[task];
            const double start_s = std::max(0.0, time.start_s - view.window.start_s);
            const double end_s = std::min(length_s, time.end_s - view.window.start_s);
            if (end_s > start_s) all.push_back({start_s, end_s});
        }
    }
    std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) { return a.start_s < b.start_s; });
    std::vector<Interval> merged;
    for (const Interval& one : all) {
        if (!merged.empty() && one.start_s <= merged.back().end_s + resolution_s)
            merged.back().end_s = std::max(merged.back().end_s, one.end_s);
        else
            merged.push_back(one);
    }
    return merged;
}

}  // namespace syncline

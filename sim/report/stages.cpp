#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/explain/stage_passes.hpp"
#include "sim/output/cells.hpp"
#include "sim/report/parts.hpp"

namespace syncline {

namespace {

/// Returns the names of the layers of a stage: "embedding to layer6.moe", one range for each virtual stage.
std::string layers_of(const Lowered& training, std::uint32_t stage) {
    const Arrangement& arrangement = training.arrangement;
    std::vector<std::string> ranges;
    for (std::uint32_t which = 0; which < arrangement.virtual_stages; ++which) {
        const std::uint32_t part = arrangement.pipeline.virtual_stage_of(which, stage);
        const std::string& first = training.model.layers[arrangement.first_layer[part]].name;
        const std::string& last = training.model.layers[arrangement.first_layer[part + 1] - 1].name;
        ranges.push_back(first == last ? first : fmt::format("{} to {}", first, last));
    }
    return fmt::format("{}", fmt::join(ranges, ", "));
}

}  // namespace

Json page_stages(const TimelineView& view, const Lowered& training, const PageLimits& limits) {
    const Arrangement& arrangement = training.arrangement;
    const double window_s = view.window.end_s - view.window.start_s;
    if (window_s <= 0 || view.timeline.recorded.empty()) return nullptr;
    if (arrangement.stages == 1 && arrangement.micro_batches == 1) return nullptr;
    const double tick_s = window_s / 1e6;
    const auto ticks = [tick_s](double time_s) { return static_cast<std::int64_t>(std::llround(time_s / tick_s)); };
    Json stages = Json::array();
    for (const std::uint32_t stage : picked(arrangement.stages, limits.processes, arrangement.stages - 1)) {
        const std::vector<Slot> order = slots(training.plan.parallelism.pipeline, stage);
        Json passes = Json::array(), gradients = Json::array();
        double busy_s = 0;
        for (const TimedPass& pass : stage_passes(view, training, stage)) {
            const Slot& slot = order[pass.slot];
            busy_s += pass.end_s - pass.start_s;
            for (const std::int64_t value :
                 {slot.forward ? std::int64_t{0} : 1 + static_cast<std::int64_t>(slot.gradients),
                  static_cast<std::int64_t>(slot.virtual_rank), static_cast<std::int64_t>(slot.micro_batch),
                  ticks(pass.start_s), ticks(pass.end_s)})
                passes.push_back(value);
        }
        for (const Interval& time : gradient_times(view, training, stage, window_s / 1000)) {
            gradients.push_back(ticks(time.start_s));
            gradients.push_back(ticks(time.end_s));
        }
        stages.push_back({{"stage", stage},
                          {"rank", stage * arrangement.stage_ranks},
                          {"layers", layers_of(training, stage)},
                          {"busy_s", busy_s},
                          {"passes", std::move(passes)},
                          {"gradients", std::move(gradients)}});
    }
    return {{"window_s", window_s},
            {"tick_s", tick_s},
            {"count", arrangement.stages},
            {"virtual_stages", arrangement.virtual_stages},
            {"micro_batches", arrangement.micro_batches},
            {"stages", std::move(stages)}};
}

}  // namespace syncline

#include "sim/explain/trace_explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/analysis/trace_experiment.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/explain/diagnosis.hpp"
#include "sim/explain/recording.hpp"
#include "sim/iteration/trace_graph.hpp"

namespace syncline {

namespace {

WhatIf changed(const Cluster& cluster, const TracePlan& plan, const Change& change, double base_s, const Watch& watch) {
    WhatIf answer;
    answer.change = text_of(change);
    answer.text = description_of(change);
    try {
        if (change.resource == "batch" || change.resource == "memory")
            throw std::invalid_argument("a trace has times of its computation, not what they consist of");
        const Cluster other = changed_cluster(cluster, change);
        TracePlan faster = plan;
        // Work in FLOP follows the device's peak, which has changed already.
        const bool recorded =
            std::ranges::none_of(plan.trace->nodes(), [](const TraceNode& one) { return one.flop > 0; });
        if (change.resource == "device" && recorded) faster.speed *= change.factor;
        const double seconds = replay_trace(other, faster, build_trace(other, faster), watch).time.iteration_s;
        answer.iteration_time_s = seconds;
        if (seconds > 0) answer.speed_up = base_s / seconds;
    } catch (const std::invalid_argument& error) {
        answer.problem = error.what();
    } catch (const ReplayError& error) {
        answer.problem = error.what();
    }
    return answer;
}

/// Returns the bound of the iteration, as theory_beside() does, and the causes of the difference to it.
Theory theory_of(const Explanation& explanation) {
    Theory theory;
    theory.formula = theory.why_not = explanation.result.closed_form.why_not;
    theory.simulated_s = explanation.window_s;
    if (explanation.uncontended_time_s)
        theory.differences.push_back(
            {"contention", explanation.window_s - *explanation.uncontended_time_s, "messages that share links"});
    return theory;
}

}  // namespace

Explanation explain_trace(const Cluster& cluster, const TracePlan& plan, const ExplainOptions& options,
                          TimelineView* view) {
    TaskGraph graph = build_trace(cluster, plan);
    const std::uint64_t messages = count_messages(graph);
    ReplayOptions recorded_options;
    recorded_options.messages = messages <= options.most_messages;
    ReplayedIteration replayed = replay_trace(cluster, plan, std::move(graph), options.watch, recorded_options);

    Explanation explanation;
    explanation.result = result_of(cluster, plan, replayed);
    explanation.level = recorded_options.messages ? "messages" : "tasks";
    if (!recorded_options.messages)
        explanation.level_reason =
            fmt::format("the trace has {} messages, but at most {} are recorded", messages, options.most_messages);
    const Recorded recorded(replayed);
    const TaskNames names(static_cast<std::uint32_t>(plan.ranks()), plan.trace->names);
    add_recording(explanation, recorded, names, cluster, static_cast<std::uint32_t>(plan.ranks()));
    if (options.uncontended && !cluster.native && cluster.faults.empty()) {
        ReplayOptions alone;
        alone.contention = false;
        explanation.uncontended_time_s =
            replay_trace(cluster, plan, replayed.graph, options.watch, alone).time.iteration_s;
    }
    explanation.theory = theory_of(explanation);
    for (const Change& change : options.changes)
        explanation.what_if.push_back(
            changed(cluster, plan, change, explanation.result.time.iteration_s, options.watch));
    std::ranges::stable_sort(explanation.what_if, std::greater<>{},
                             [](const WhatIf& one) { return std::pair(one.problem.empty(), one.speed_up); });
    explanation.diagnosis = diagnosis_of({}, explanation);
    if (view != nullptr) hand_over(replayed, recorded.window(), names, *view);
    return explanation;
}

}  // namespace syncline

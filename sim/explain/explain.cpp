#include "sim/explain/explain.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sim/explain/diagnosis.hpp"
#include "sim/explain/recording.hpp"
#include "sim/iteration/iteration.hpp"

namespace syncline {

namespace {

/// Returns the graph of the ranks that stand for the others, if `training` folds; else nothing.
std::optional<TaskGraph> folded_graph(const Lowered& training) {
    if (training.plan.fidelity == Fidelity::message || training.cluster.native || !training.cluster.faults.empty())
        return std::nullopt;
    std::optional<TaskGraph> graph = representatives_of(training);
    if (graph && !choose_fidelity(training.plan.fidelity, training.cluster, *graph).folds) graph.reset();
    return graph;
}

/// Gives the ranks that are not in the graph the parts of those that stand for them.
void copy_parts(std::vector<RankParts>& parts, const TaskGraph& graph) {
    for (std::uint32_t rank = 0; rank < parts.size(); ++rank)
        parts[rank] = parts[graph.rotations().representative(rank)];
}

}  // namespace

Explanation explain(const Lowered& training, const ExplainOptions& options, TimelineView* view) {
    const Cluster& cluster = training.cluster;
    const Plan& plan = training.plan;
    // The iterations of the window are recorded, and the previous one, which may reach into it.
    const std::uint32_t iterations = training.averaged + 1;
    std::optional<TaskGraph> folded = options.every_rank ? std::nullopt : folded_graph(training);
    TaskGraph graph = folded ? *std::move(folded) : build_iteration(training);
    const std::uint64_t messages = count_messages(graph, iterations);
    ReplayOptions recorded_options;
    recorded_options.messages = messages <= options.most_messages;
    if (recorded_options.messages && graph.images() > 1) graph = build_iteration(training);
    ReplayedIteration replayed = replay_iteration(training, std::move(graph), options.watch, recorded_options);

    Explanation explanation;
    explanation.result = result_of(training, replayed, options.watch);
    explanation.level = recorded_options.messages ? "messages" : "tasks";
    if (!recorded_options.messages)
        explanation.level_reason = fmt::format("{} iterations have {} messages, but at most {} are recorded",
                                               iterations, messages, options.most_messages);
    const Recorded recorded(replayed);
    const TaskNames names(training);
    add_recording(explanation, recorded, names, cluster, static_cast<std::uint32_t>(plan.ranks));
    copy_parts(explanation.ranks, replayed.graph);
    explanation.optimizer_step_s = phases_s(recorded, recorded.last_rank(), {Phase::optimizer});
    explanation.offload_copies_s = phases_s(recorded, recorded.last_rank(), {Phase::to_host, Phase::to_device});
    explanation.layers = layer_parts(recorded, recorded.last_rank(), training.model);
    explanation.kernels =
        kernel_parts(training, explanation.last_rank, explanation.iterations,
                     explanation.ranks[explanation.last_rank].compute_s, explanation.optimizer_step_s);
    if (options.uncontended && !cluster.native && cluster.faults.empty()) {
        ReplayOptions alone;
        alone.contention = false;
        explanation.uncontended_time_s =
            replay_iteration(training, replayed.graph, options.watch, alone).time.iteration_s;
    }
    explanation.theory = theory_beside(training, recorded, explanation, options.uncontended);
    explanation.what_if = what_if(training, explanation.result, options.changes,
                                  options.plans ? plan_changes(plan) : std::vector<std::string>{}, options.watch);
    explanation.diagnosis = diagnosis_of(plan_changes(plan), explanation);
    if (view != nullptr) hand_over(replayed, recorded.window(), names, *view);
    return explanation;
}

}  // namespace syncline

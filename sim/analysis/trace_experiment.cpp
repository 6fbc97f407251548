#include "sim/analysis/trace_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/analysis/limit.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/iteration/trace_graph.hpp"

namespace syncline {

namespace {

/// Returns what a rank does in a node's task: "rank 2: send of layer 3, to rank 1"; empty for others.
std::string described(const TaskGraph& graph, const ExecutionTrace& trace, TaskId id) {
    const Task& task = graph.tasks()[id];
    const ProcessId rank = graph.streams()[task.stream].process;
    if (task.phase != Phase::kernel && task.phase != Phase::communication) return "";
    const std::string& name = trace.names[task.subject];
    if (task.exchange == Task::no_exchange) return fmt::format("rank {}: {}", rank, name);
    const std::span<const ProcessId> group = graph.group(graph.exchange(task.exchange).group);
    if (graph.streams()[task.stream].kind == StreamKind::exchange)
        return fmt::format("rank {}: {}, with {} others", rank, name, group.size() - 1);
    return fmt::format("rank {}: {}, {} rank {}", rank, name, task.member == 0 ? "to" : "from", group[1 - task.member]);
}

}  // namespace

ReplayedIteration replay_trace(const Cluster& cluster, const TracePlan& plan, TaskGraph graph, const Watch& watch,
                               const ReplayOptions& recorded) {
    ReplayedIteration replayed;
    replayed.graph = std::move(graph);
    ReplayOptions options = recorded;
    options.described = [&](TaskId task) { return described(replayed.graph, *plan.trace, task); };
    FidelityChoice fidelity = choose_fidelity(plan.fidelity, cluster, replayed.graph, options.messages);
    options.fold = fidelity.folds;
    try {
        replayed.timeline = watched_replay(cluster, replayed.graph, options, watch);
    } catch (const std::logic_error& error) {
        // In a training this would be our fault; the order of a trace's messages is its own.
        const std::string why = error.what();
        if (why.starts_with("deadlock"))
            throw ReplayError(
                "messages of the trace wait for each other (`trace.eager: unlimited` lets them start without "
                "their receivers):" +
                why.substr(std::min(why.find('\n'), why.size())));
        throw;
    }
    replayed.folded = folded_of(std::move(fidelity), replayed.timeline);
    replayed.time = measure(replayed.graph, replayed.timeline);
    if (cluster.has_power()) replayed.time.activity = activity_of(replayed.graph, replayed.timeline, 1);
    replayed.time.pipeline_bubble.reset();
    return replayed;
}

Result result_of(const Cluster& cluster, const TracePlan& plan, const ReplayedIteration& replayed) {
    const Timeline& timeline = replayed.timeline;
    Result result;
    result.workload = plan.name;
    result.ranks = plan.ranks();
    result.fabric = fabric_of(cluster);
    result.transport = transport_of(cluster);
    result.exchange = "trace";
    result.time = replayed.time;
    result.messages = timeline.messages;
    result.folded = replayed.folded;
    result.bytes_sent = timeline.bytes_sent;
    result.most_bytes_sent_by_rank = most(timeline.sent_by, plan.ranks());
    result.cost = cost_of(cluster, replayed.graph, plan.ranks(), result.time.iteration_s);
    result.energy = energy_of(cluster, replayed.graph, timeline.links, result.time);
    result.links = busiest(cluster, timeline.links, result.time.sending_s(timeline.links));
    result.limited_by = limit_of(cluster, result.time, timeline.links);
    result.closed_form.why_not = "none for a trace";
    result.notes = plan.trace->notes;
    if (result.energy)
        if (std::string note = result.energy->note(); !note.empty()) result.notes.push_back(std::move(note));
    for (std::string& note : fault_notes(cluster, timeline.iteration_end_s.back(), {}))
        result.notes.push_back(std::move(note));
    for (std::string& note : unused_ways_note(cluster, timeline.links)) result.notes.push_back(std::move(note));
    return result;
}

Result simulate(const Cluster& cluster, const TracePlan& plan, const Watch& watch) {
    return result_of(cluster, plan, replay_trace(cluster, plan, build_trace(cluster, plan), watch));
}

}  // namespace syncline

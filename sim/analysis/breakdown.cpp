#include "sim/analysis/breakdown.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace syncline {

namespace {

/// Computes Breakdown::pipeline_bubble.
std::optional<double> bubble(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    if (std::ranges::none_of(graph.streams(), [](const Stream& stream) { return stream.kind == StreamKind::transfer; }))
        return std::nullopt;
    std::vector<std::optional<TaskId>> updates(graph.processes().size());
    std::vector<std::vector<Interval>> busy(graph.processes().size());
    for (TaskId id = 0; id < graph.tasks().size(); ++id) {
        const Task& task = graph.tasks()[id];
        const Stream& stream = graph.streams()[task.stream];
        if (task.phase == Phase::update) updates[stream.process] = id;
        const bool works = stream.kind == StreamKind::compute || stream.kind == StreamKind::host_copy ||
                           task.exchange != Task::no_exchange;
        if (!works || stream.kind == StreamKind::receive) continue;
        for (std::size_t before = 0; before < reaching(graph, timeline, period); ++before)
            busy[stream.process].push_back(timeline.recorded[timeline.recorded.size() - 1 - before][id]);
    }
    // From a standing start all stages wait until the last one ends, as they would otherwise for its next start.
    const bool standing = period >= timeline.recorded.size();
    double last_s = 0;
    for (const std::optional<TaskId>& update : updates)
        if (update) last_s = std::max(last_s, timeline.measured()[*update].end_s);
    double idle_s = 0, all_s = 0;
    for (ProcessId process = 0; process < updates.size(); ++process) {
        if (!updates[process]) continue;
        Interval window = window_of(timeline, *updates[process], period);
        if (standing) window.end_s = last_s;
        all_s += window.end_s - window.start_s;
        idle_s += window.end_s - window.start_s - length_s(merged(clipped(std::move(busy[process]), window)));
    }
    return all_s > 0 ? std::optional(idle_s / all_s) : std::nullopt;
}

/// Computes Breakdown::exchanges_s.
double exchanges_s(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    double start_s = std::numeric_limits<double>::infinity(), end_s = 0;
    for (TaskId id = 0; id < graph.tasks().size(); ++id) {
        const Task& task = graph.tasks()[id];
        // A receiver from another stage begins to wait long before its message starts.
        if (task.exchange == Task::no_exchange || graph.streams()[task.stream].kind == StreamKind::receive) continue;
        const std::size_t first = timeline.recorded.size() - std::min<std::size_t>(timeline.recorded.size(), period);
        start_s = std::min(start_s, timeline.recorded[first][id].start_s);
        end_s = std::max(end_s, timeline.measured()[id].end_s);
    }
    return std::max(0.0, end_s - start_s) / period;
}

/// Computes Breakdown::longest_….
void add_longest(Breakdown& result, const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    std::vector<double> busy_s(graph.streams().size(), 0);  // by stream
    const std::size_t count = timeline.recorded.size(), first = count - std::min<std::size_t>(count, period);
    for (std::size_t iteration = first; iteration < count; ++iteration)
        for (TaskId id = 0; id < graph.tasks().size(); ++id) {
            const Task& task = graph.tasks()[id];
            const Interval& interval = timeline.recorded[iteration][id];
            if (task.exchange == Task::no_exchange) busy_s[task.stream] += interval.end_s - interval.start_s;
        }
    for (StreamId stream = 0; stream < busy_s.size(); ++stream) {
        const auto raise = [&](double& most_s) { most_s = std::max(most_s, busy_s[stream] / period); };
        switch (graph.streams()[stream].kind) {
            case StreamKind::compute:
                raise(result.longest_compute_s);
                break;
            case StreamKind::aggregate:
                raise(result.longest_reduction_s);
                break;
            case StreamKind::input_copy:
            case StreamKind::host_copy:
                raise(result.longest_copies_s);
                break;
            case StreamKind::load:
                raise(result.longest_load_s);
                break;
            default:
                break;
        }
    }
}

/// Returns the longest mean time for which a rank waits for its input after its update, in the last `period`
/// iterations; nothing if no input is read.
std::optional<double> input_wait(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    const auto is_input = [&](TaskId id) {
        return graph.tasks()[id].phase == Phase::load || graph.tasks()[id].phase == Phase::input_copy;
    };
    if (std::ranges::none_of(graph.streams(), [](const Stream& one) { return one.kind == StreamKind::load; }))
        return {};
    const std::size_t count = timeline.recorded.size(), first = count - std::min<std::size_t>(count, period);
    double longest_s = 0;
    for (StreamId stream = 0; stream < graph.streams().size(); ++stream) {
        if (graph.streams()[stream].kind != StreamKind::compute || graph.tasks_of(stream).empty()) continue;
        double waits_s = 0;
        for (const Dependency& input : graph.dependencies_of(graph.tasks_of(stream).front())) {
            if (!is_input(input.on)) continue;
            for (std::size_t iteration = first; iteration < count; ++iteration) {
                if (input.distance > iteration) continue;
                const double there_s = timeline.recorded[iteration - input.distance][input.on].end_s;
                const double free_s =
                    iteration == 0 ? 0 : timeline.recorded[iteration - 1][graph.tasks_of(stream).back()].end_s;
                waits_s += std::max(0.0, there_s - free_s);
            }
        }
        longest_s = std::max(longest_s, waits_s / period);
    }
    return longest_s;
}

/// Computes Breakdown::standard_error of the last `count` iterations.
template <class Ended>
double standard_error(const Ended& ended_s, std::uint32_t count) {
    if (count < 2 || ended_s(0) == ended_s(count)) return 0;
    const double mean_s = (ended_s(0) - ended_s(count)) / count;
    double squares = 0;
    for (std::uint32_t before = 0; before < count; ++before) {
        const double off_s = ended_s(before) - ended_s(before + 1) - mean_s;
        squares += off_s * off_s;
    }
    return std::sqrt(squares / (count - 1.0) / count) / mean_s;
}

}  // namespace

std::vector<Interval> dependency_waits(const TaskGraph& graph, const Timeline& timeline, StreamId compute,
                                       std::uint32_t period) {
    const auto count = static_cast<std::uint32_t>(timeline.recorded.size());
    std::vector<Interval> intervals;
    for (std::uint32_t iteration = count - std::min(period, count); iteration < count; ++iteration) {
        const std::vector<Interval>& recorded = timeline.recorded[iteration];
        const std::vector<Interval>* const before = iteration > 0 ? &timeline.recorded[iteration - 1] : nullptr;
        double free_s = before ? (*before)[graph.tasks_of(compute).back()].end_s : 0;
        for (const TaskId task : graph.tasks_of(compute)) {
            double ready_s = free_s;
            for (const Dependency& dependency : graph.dependencies_of(task)) {
                if (dependency.distance > iteration) continue;
                const std::vector<Interval>& then = timeline.recorded[iteration - dependency.distance];
                ready_s = std::max(ready_s, then[dependency.on].end_s);
            }
            intervals.push_back({free_s, std::max(free_s, std::min(ready_s, recorded[task].start_s))});
            free_s = recorded[task].end_s;
        }
    }
    return intervals;
}

double overlap_s(const std::vector<Interval>& a, const std::vector<Interval>& b) {
    double seconds = 0;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        seconds += std::max(0.0, std::min(a[i].end_s, b[j].end_s) - std::max(a[i].start_s, b[j].start_s));
        if (a[i].end_s < b[j].end_s)
            ++i;
        else
            ++j;
    }
    return seconds;
}

std::vector<Interval> clipped(std::vector<Interval> intervals, const Interval& window) {
    for (Interval& interval : intervals) {
        interval.start_s = std::clamp(interval.start_s, window.start_s, window.end_s);
        interval.end_s = std::clamp(interval.end_s, window.start_s, window.end_s);
    }
    return intervals;
}

std::size_t reaching(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    return std::min(timeline.recorded.size(), std::size_t{period} + std::max(1u, graph.largest_distance()));
}

std::vector<Interval> merged(std::vector<Interval> intervals) {
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.start_s < b.start_s; });
    std::vector<Interval> result;
    for (const Interval& interval : intervals) {
        if (result.empty() || interval.start_s > result.back().end_s)
            result.push_back(interval);
        else
            result.back().end_s = std::max(result.back().end_s, interval.end_s);
    }
    return result;
}

double length_s(const std::vector<Interval>& intervals) {
    double seconds = 0;
    for (const Interval& interval : intervals) seconds += interval.end_s - interval.start_s;
    return seconds;
}

Interval window_of(const Timeline& timeline, TaskId update, std::uint32_t period) {
    const std::size_t last = timeline.recorded.size() - 1;
    return {period > last ? 0 : timeline.recorded[last - period][update].end_s, timeline.measured()[update].end_s};
}

std::vector<double> iteration_times_s(const TaskGraph& graph, const Timeline& timeline) {
    const TaskId update = last_update(graph, timeline);
    std::vector<double> times_s;
    double before_s = 0;
    for (const std::vector<Interval>& iteration : timeline.recorded)
        times_s.push_back(iteration[update].end_s - std::exchange(before_s, iteration[update].end_s));
    return times_s;
}

TaskId last_update(const TaskGraph& graph, const Timeline& timeline) {
    const TaskId none = static_cast<TaskId>(graph.tasks().size());
    TaskId found = none;
    for (TaskId task = 0; task < none; ++task) {
        if (graph.tasks()[task].phase != Phase::update) continue;
        if (found == none || timeline.measured()[task].end_s > timeline.measured()[found].end_s) found = task;
    }
    if (found == none) throw std::logic_error("no rank updates its model");
    return found;
}

double Breakdown::sending_s(const std::vector<LinkUse>& links) const {
    constexpr double rounding = 0.01;
    double needed_s = 0;
    for (const LinkUse& link : links)
        needed_s = std::max(needed_s, static_cast<double>(link.bytes) / link.bandwidth_Bps);
    return std::max(iteration_s, needed_s <= iteration_s * (1 + rounding) ? needed_s : exchanges_s);
}

std::vector<std::vector<TaskId>> tasks_by_process(const TaskGraph& graph) {
    std::vector<std::vector<TaskId>> tasks(graph.processes().size());
    for (TaskId task = 0; task < graph.tasks().size(); ++task)
        tasks[graph.streams()[graph.tasks()[task].stream].process].push_back(task);
    return tasks;
}

Breakdown parts_of(const TaskGraph& graph, const Timeline& timeline, TaskId update,
                   const std::vector<TaskId>& tasks_of_rank, const Interval& window, std::uint32_t period,
                   std::uint32_t iterations) {
    Breakdown result;
    result.iteration_s = (window.end_s - window.start_s) / iterations;
    std::vector<Interval> computing, exchanging;
    // Tasks of previous iterations may reach into the window.
    for (std::size_t before = 0; before < reaching(graph, timeline, period); ++before) {
        const std::vector<Interval>& recorded = timeline.recorded[timeline.recorded.size() - 1 - before];
        for (const TaskId id : tasks_of_rank) {
            const Task& task = graph.tasks()[id];
            const Stream& stream = graph.streams()[task.stream];
            if (stream.kind == StreamKind::compute) computing.push_back(recorded[id]);
            if (task.exchange != Task::no_exchange && stream.kind != StreamKind::receive)
                exchanging.push_back(recorded[id]);
        }
    }
    computing = merged(clipped(std::move(computing), window));
    exchanging = merged(clipped(std::move(exchanging), window));
    result.compute_s = length_s(computing) / iterations;
    result.communication_s = length_s(exchanging) / iterations;
    const auto part_s = [&](double seconds) { return beyond_rounding(seconds / iterations, result.iteration_s); };
    result.exposed_communication_s = part_s(length_s(exchanging) - overlap_s(computing, exchanging));
    const std::vector<Interval> waiting =
        merged(clipped(dependency_waits(graph, timeline, graph.tasks()[update].stream, period), window));
    result.waiting_s = part_s(length_s(waiting) - overlap_s(waiting, exchanging));
    result.idle_s = beyond_rounding(
        result.iteration_s - result.compute_s - result.exposed_communication_s - result.waiting_s, result.iteration_s);
    return result;
}

double falling_behind(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    if (timeline.recorded.size() <= period) return 0;
    const Interval window = window_of(timeline, last_update(graph, timeline), period);
    if (window.end_s <= window.start_s) return 0;
    const std::vector<Interval>& before = timeline.recorded[timeline.recorded.size() - 1 - period];
    double most_s = 0;
    for (TaskId id = 0; id < graph.tasks().size(); ++id) {
        const Task& task = graph.tasks()[id];
        if (task.exchange == Task::no_exchange || graph.streams()[task.stream].kind == StreamKind::receive) continue;
        most_s = std::max(most_s, timeline.measured()[id].end_s - before[id].end_s);
    }
    return std::max(0.0, most_s / (window.end_s - window.start_s) - 1);
}

void add_extremes(Breakdown& breakdown, const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    breakdown.exchanges_s = exchanges_s(graph, timeline, period);
    add_longest(breakdown, graph, timeline, period);
}

Breakdown measure(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    const TaskId update = last_update(graph, timeline);
    const std::size_t last = timeline.recorded.size() - 1;
    // A single iteration starts with the simulation.
    const auto ended_s = [&](std::size_t before) {
        return before > last ? 0 : timeline.recorded[last - before][update].end_s;
    };

    const ProcessId rank = graph.streams()[graph.tasks()[update].stream].process;
    Breakdown result = parts_of(graph, timeline, update, tasks_by_process(graph)[rank],
                                window_of(timeline, update, period), period, period);
    add_extremes(result, graph, timeline, period);
    result.pipeline_bubble = bubble(graph, timeline, period);
    result.input_wait_s = input_wait(graph, timeline, period);
    result.standard_error = standard_error(ended_s, std::min(period, static_cast<std::uint32_t>(last)));
    if (last >= 2 * std::size_t{period} && result.iteration_s > 0) {
        const double before_s = (ended_s(period) - ended_s(2 * std::size_t{period})) / period;
        result.drift = std::abs(1 - before_s / result.iteration_s);
    }
    return result;
}

}  // namespace syncline

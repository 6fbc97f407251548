#include "sim/analysis/breakdown.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace syncline {

namespace {

/// The same instants, as intervals that neither touch nor overlap, in order.
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

double length(const std::vector<Interval>& intervals) {
    double seconds = 0;
    for (const Interval& interval : intervals) seconds += interval.end_s - interval.start_s;
    return seconds;
}

/// How long both are under way at once.
double overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
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

/// The part of each that lies in `window`.
std::vector<Interval> clipped(std::vector<Interval> intervals, const Interval& window) {
    for (Interval& interval : intervals) {
        interval.start_s = std::clamp(interval.start_s, window.start_s, window.end_s);
        interval.end_s = std::clamp(interval.end_s, window.start_s, window.end_s);
    }
    return intervals;
}

/// The update that ends the iteration of the rank that ends last.
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

}  // namespace

Breakdown measure(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    const TaskId update = last_update(graph, timeline);
    const ProcessId rank = graph.streams()[graph.tasks()[update].stream].process;
    const std::size_t last = timeline.recorded.size() - 1;
    // An iteration alone starts with the simulation.
    const auto ended_s = [&](std::size_t before) {
        return before > last ? 0 : timeline.recorded[last - before][update].end_s;
    };

    const Interval window{ended_s(period), ended_s(0)};
    Breakdown result;
    result.iteration_s = (window.end_s - window.start_s) / period;
    std::vector<Interval> computing, exchanging;
    // What the iteration before them left to do may reach into the window.
    for (std::size_t before = 0; before <= std::min<std::size_t>(period, last); ++before) {
        const std::vector<Interval>& recorded = timeline.recorded[last - before];
        for (TaskId id = 0; id < graph.tasks().size(); ++id) {
            const Task& task = graph.tasks()[id];
            const Stream& stream = graph.streams()[task.stream];
            if (stream.process != rank) continue;
            if (stream.kind == StreamKind::compute) computing.push_back(recorded[id]);
            if (task.exchange != Task::no_exchange && stream.kind != StreamKind::receive)
                exchanging.push_back(recorded[id]);
        }
    }
    computing = merged(clipped(std::move(computing), window));
    exchanging = merged(clipped(std::move(exchanging), window));
    result.compute_s = length(computing) / period;
    result.communication_s = length(exchanging) / period;
    result.exposed_communication_s = (length(exchanging) - overlap(computing, exchanging)) / period;
    if (last >= 2 * std::size_t{period} && result.iteration_s > 0) {
        const double before_s = (ended_s(period) - ended_s(2 * std::size_t{period})) / period;
        result.drift = std::abs(1 - before_s / result.iteration_s);
    }
    return result;
}

}  // namespace syncline

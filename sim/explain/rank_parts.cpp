#include "sim/explain/window_parts.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace syncline {

namespace {

/// Activities of a rank, in order of precedence.
enum class Doing : std::uint8_t { compute, communicate, reduce, copy, wait };
constexpr std::size_t kinds = 5;

struct Span {
    Interval interval;
    std::uint32_t what = 0;
};

/// Calls each(seconds, counts) for each interval in which the number of active spans of each kind is constant.
template <class Each>
void sweep(const std::vector<Span>& spans, std::size_t whats, Each each) {
    struct Event {
        double time_s;
        std::uint32_t what;
        int change;
    };
    std::vector<Event> events;
    events.reserve(2 * spans.size());
    for (const Span& span : spans) {
        if (span.interval.end_s <= span.interval.start_s) continue;
        events.push_back({span.interval.start_s, span.what, 1});
        events.push_back({span.interval.end_s, span.what, -1});
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time_s < b.time_s; });
    std::vector<int> counts(whats, 0);
    for (std::size_t i = 0; i < events.size(); ++i) {
        counts[events[i].what] += events[i].change;
        if (i + 1 < events.size() && events[i + 1].time_s > events[i].time_s)
            each(events[i + 1].time_s - events[i].time_s, counts);
    }
}

std::optional<Doing> doing(ActKind kind) {
    switch (kind) {
        case ActKind::copy:
            return Doing::copy;
        case ActKind::reduction:
            return Doing::reduce;
        case ActKind::launch:
        case ActKind::send:
        case ActKind::receive:
            return Doing::communicate;
        case ActKind::window:
        case ActKind::messages:
            break;
    }
    return std::nullopt;  // its messages are counted instead
}

RankParts parts_of(const std::vector<Span>& spans, double window_s) {
    RankParts parts;
    sweep(spans, kinds, [&](double seconds, const std::vector<int>& counts) {
        const auto is = [&](Doing what) { return counts[static_cast<std::size_t>(what)] > 0; };
        if (is(Doing::compute)) {
            parts.compute_s += seconds;
            // As elsewhere, communication includes waiting for peers in an exchange.
            if (is(Doing::communicate) || is(Doing::wait)) parts.hidden_communication_s += seconds;
        } else if (is(Doing::communicate)) {
            parts.exposed_communication_s += seconds;
        } else if (is(Doing::reduce)) {
            parts.reduction_s += seconds;
        } else if (is(Doing::copy)) {
            parts.copies_s += seconds;
        } else if (is(Doing::wait)) {
            parts.waiting_s += seconds;
        }
    });
    // Ends and starts that are sums of the same times in another order leave gaps.
    for (double RankParts::*const part : {&RankParts::hidden_communication_s, &RankParts::exposed_communication_s,
                                          &RankParts::reduction_s, &RankParts::copies_s, &RankParts::waiting_s})
        parts.*part = beyond_rounding(parts.*part, window_s);
    parts.idle_s = beyond_rounding(window_s - parts.sum_s(), window_s);
    return parts;
}

class Spans {
public:
    explicit Spans(const Recorded& recorded)
        : windows_(recorded.own_windows()), spans_(recorded.graph().processes().size()) {
        const TaskGraph& graph = recorded.graph();
        // If only tasks are recorded: the time at which the last member enters the exchange.
        const auto complete_s = [&](const Ran& ran) {
            double last_s = 0;
            for (const TaskId member : recorded.meeting(ran.task))
                last_s = std::max(last_s, recorded.interval({member, ran.iteration}).start_s);
            return last_s;
        };
        recorded.each([&](const Ran& ran, const Interval& interval) {
            const Task& task = graph.tasks()[ran.task];
            const StreamKind kind = graph.streams()[task.stream].kind;
            const ProcessId process = graph.streams()[task.stream].process;
            if (task.exchange != Task::no_exchange) {
                if (kind == StreamKind::receive) return;
                add(process, Doing::wait, interval);
                if (recorded.trace().empty()) add(process, Doing::communicate, {complete_s(ran), interval.end_s});
            } else if (kind == StreamKind::compute) {
                add(process, Doing::compute, interval);
            } else if (kind == StreamKind::input_copy || kind == StreamKind::host_copy) {
                add(process, Doing::copy, interval);
            } else if (task.phase == Phase::aggregate) {
                add(process, Doing::reduce, interval);
            }
        });
        for (StreamId stream = 0; stream < graph.streams().size(); ++stream)
            if (graph.streams()[stream].kind == StreamKind::compute)
                for (const Interval& wait : dependency_waits(graph, recorded.timeline(), stream, recorded.iterations()))
                    add(graph.streams()[stream].process, Doing::wait, wait);
        for (std::size_t lane = 0; lane < recorded.trace().acts.size(); ++lane)
            for (const Act& act : recorded.trace().acts[lane])
                if (const std::optional<Doing> what = doing(act.kind))
                    add(graph.streams()[recorded.trace().stream_of_lane[lane]].process, *what,
                        {act.start_s, act.end_s});
        const auto communicate = [&](TaskId side, double start_s, double end_s) {
            // A stream that waits for another stage takes no time of the rank.
            const Stream& stream = graph.streams()[graph.tasks()[side].stream];
            if (stream.kind != StreamKind::receive) add(stream.process, Doing::communicate, {start_s, end_s});
        };
        const bool sent_with_bytes = recorded.trace().latency_travels;
        for (const MessageRecord& message : recorded.trace().messages) {
            communicate(message.sender, message.start_s(), sent_with_bytes ? message.through_s : message.end_s());
            communicate(message.receiver, message.start_s(), message.end_s());
        }
    }

    RankParts of(ProcessId process) const {
        return parts_of(spans_[process], windows_[process].end_s - windows_[process].start_s);
    }

private:
    void add(ProcessId process, Doing what, const Interval& interval) {
        const Interval& window = windows_[process];
        const Interval part{std::max(interval.start_s, window.start_s), std::min(interval.end_s, window.end_s)};
        if (part.end_s > part.start_s) spans_[process].push_back({part, static_cast<std::uint32_t>(what)});
    }

    std::vector<Interval> windows_;         ///< by process
    std::vector<std::vector<Span>> spans_;  ///< by process
};

}  // namespace

std::vector<RankParts> rank_parts(const Recorded& recorded, std::uint32_t ranks) {
    const Spans spans(recorded);
    std::vector<RankParts> parts;
    for (ProcessId rank = 0; rank < ranks; ++rank) parts.push_back(spans.of(rank));
    return parts;
}

std::vector<LayerParts> layer_parts(const Recorded& recorded, ProcessId rank, const Model& model) {
    std::vector<LayerParts> all(model.layers.size());
    recorded.in_window([&](const Ran& ran, const Interval& interval) {
        const Task& task = recorded.graph().tasks()[ran.task];
        if (recorded.process_of(ran.task) != rank) return;
        if (task.phase == Phase::forward) all[task.subject].forward_s += interval.end_s - interval.start_s;
        if (task.phase == Phase::backward || task.phase == Phase::recompute)
            all[task.subject].backward_s += interval.end_s - interval.start_s;
    });
    std::vector<LayerParts> parts;
    for (std::size_t layer = 0; layer < all.size(); ++layer) {
        all[layer].layer = model.layers[layer].name;
        if (all[layer].forward_s + all[layer].backward_s > 0) parts.push_back(all[layer]);
    }
    return parts;
}

double phases_s(const Recorded& recorded, ProcessId rank, std::initializer_list<Phase> phases) {
    double seconds = 0;
    recorded.in_window([&](const Ran& ran, const Interval& interval) {
        const Task& task = recorded.graph().tasks()[ran.task];
        if (recorded.process_of(ran.task) == rank && std::ranges::find(phases, task.phase) != phases.end())
            seconds += interval.end_s - interval.start_s;
    });
    return seconds;
}

std::vector<BucketParts> bucket_parts(const Recorded& recorded, ProcessId rank, const TaskNames& names) {
    const TaskGraph& graph = recorded.graph();
    std::map<std::string, std::uint32_t> number;
    std::vector<BucketParts> parts;
    std::vector<Span> spans;
    constexpr std::uint32_t computing = 0;
    recorded.in_window([&](const Ran& ran, const Interval& interval) {
        const Task& task = graph.tasks()[ran.task];
        const StreamKind kind = graph.streams()[task.stream].kind;
        if (recorded.process_of(ran.task) != rank || kind == StreamKind::receive) return;
        if (kind == StreamKind::compute && task.exchange == Task::no_exchange) spans.push_back({interval, computing});
        if (task.exchange == Task::no_exchange) return;
        const auto [found, added] = number.try_emplace(names.task(task), static_cast<std::uint32_t>(parts.size() + 1));
        const Interval whole = recorded.interval(ran);
        const double zero_s = recorded.window().start_s;
        if (added) parts.push_back({found->first, 0, whole.start_s - zero_s, whole.end_s - zero_s});
        BucketParts& part = parts[found->second - 1];
        // An exchange that reaches into the window and the next one that reaches out of it count as one together.
        if (whole.end_s <= recorded.window().end_s && whole.end_s > recorded.window().start_s)
            part.bytes += graph.exchange(task.exchange).bytes;
        part.start_s = std::min(part.start_s, whole.start_s - zero_s);
        part.end_s = std::max(part.end_s, whole.end_s - zero_s);
        spans.push_back({interval, found->second});
    });
    sweep(spans, parts.size() + 1, [&](double seconds, const std::vector<int>& counts) {
        const auto under_way = std::count_if(counts.begin() + 1, counts.end(), [](int count) { return count > 0; });
        for (std::size_t b = 0; b < parts.size(); ++b) {
            if (counts[b + 1] == 0) continue;
            parts[b].communication_s += seconds;
            if (counts[computing] == 0) parts[b].exposed_s += seconds / static_cast<double>(under_way);
        }
    });
    std::stable_sort(parts.begin(), parts.end(),
                     [](const BucketParts& a, const BucketParts& b) { return a.start_s < b.start_s; });
    return parts;
}

}  // namespace syncline

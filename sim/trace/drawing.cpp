#include "sim/trace/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "sim/base/units.hpp"
#include "sim/trace/timeline_words.hpp"

namespace syncline {

namespace {

std::uint64_t key(TaskId task, std::uint32_t iteration) {
    return std::uint64_t{iteration} << 32 | task;
}

/// Acts of one task in one iteration: the range [first, end) of its stream's acts.
struct ActRun {
    std::size_t first = 0, end = 0;
};

std::unordered_map<std::uint64_t, ActRun> act_runs(const std::vector<Act>& acts) {
    std::unordered_map<std::uint64_t, ActRun> runs;
    for (std::size_t first = 0, end = 0; first < acts.size(); first = end) {
        while (end < acts.size() && acts[end].task == acts[first].task && acts[end].iteration == acts[first].iteration)
            ++end;
        runs[key(acts[first].task, acts[first].iteration)] = {first, end};
    }
    return runs;
}

std::string parts(const DrawnCounts& counts) {
    std::vector<std::string> texts;
    const auto add = [&texts](std::uint64_t count, const char* one, const char* several) {
        if (count > 0) texts.push_back(fmt::format("{} {}", count, count == 1 ? one : several));
    };
    add(counts.tasks, "task", "tasks");
    add(counts.acts, "act", "acts");
    add(counts.messages, "message", "messages");
    return texts.empty() ? "nothing" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string seconds(double value) {
    return format_quantity(value, Dimension::seconds);
}

}  // namespace

std::int64_t nanoseconds(double seconds) {
    return std::llround(seconds * 1e9);
}

Drawing::Drawing(const TimelineView& view, const TraceLimits& limits)
    : view_(view),
      cast_(view.graph),
      level_(limits.level),
      time_(view.window),
      whole_iteration_(!limits.time),
      shows_process_(view.graph.processes().size(), true),
      streams_(view.timeline.trace.stream_of_lane) {
    if (streams_.empty()) {
        streams_.resize(view.graph.streams().size());
        std::iota(streams_.begin(), streams_.end(), StreamId{0});
    }
    ends_.resize(streams_.size());
    if (limits.time) time_ = {view.window.start_s + limits.time->start_s, view.window.start_s + limits.time->end_s};
    choose_processes(limits);
    count_slices();
    choose_messages();
}

void Drawing::choose_processes(const TraceLimits& limits) {
    if (!limits.ranks) return;
    for (ProcessId process = 0; process < shows_process_.size(); ++process) {
        const bool rank = cast_.is_rank(process);
        const bool shown = rank ? std::ranges::count(*limits.ranks, cast_.number(process)) > 0 : limits.servers;
        shows_process_[process] = shown;
        if (!shown) ++(rank ? hidden_ranks_ : hidden_servers_);
    }
}

const Interval* Drawing::interval(TaskId task, std::uint32_t iteration) const {
    const auto& recorded = view_.timeline.recorded;
    const std::uint64_t behind_first = std::uint64_t{iteration} + recorded.size();
    if (iteration > view_.iteration || behind_first <= view_.iteration) return nullptr;
    return &recorded[behind_first - view_.iteration - 1][task];
}

bool Drawing::in_time(double start_s, double end_s) const {
    // An event of no length is inside at the very ends of the range, too.
    if (start_s == end_s) return start_s >= time_.start_s && start_s <= time_.end_s;
    return start_s < time_.end_s && end_s > time_.start_s;
}

DrawnCounts& Drawing::counts(bool shown, bool timely, TraceLevel needed) {
    if (!shown) return by_process_;
    if (!timely) return by_time_;
    return level_ < needed ? by_level_ : drawn_;
}

void Drawing::count_slices() {
    const TaskGraph& graph = view_.graph;
    for (const std::vector<Interval>& iteration : view_.timeline.recorded) {
        for (TaskId task = 0; task < graph.tasks().size(); ++task) {
            const bool timely = in_time(iteration[task].start_s, iteration[task].end_s);
            ++counts(shows(process_of(task)), timely, TraceLevel::tasks).tasks;
        }
    }
    const auto& acts = view_.timeline.trace.acts;
    for (std::size_t lane = 0; lane < acts.size(); ++lane) {
        const bool shown = shows(graph.streams()[streams_[lane]].process);
        for (const Act& act : acts[lane]) ++counts(shown, in_time(act.start_s, act.end_s), TraceLevel::acts).acts;
    }
}

void Drawing::choose_messages() {
    const auto& messages = view_.timeline.trace.messages;
    for (MessageId id = 0; id < messages.size(); ++id) {
        const MessageRecord& message = messages[id];
        // An arrow needs the slices at both its ends.
        const auto drawn = [&](TaskId task) {
            const Interval* const found = interval(task, message.iteration);
            return found != nullptr && in_time(found->start_s, found->end_s);
        };
        const bool shown = shows(sender(message)) && shows(receiver(message));
        const bool timely = in_time(message.put_s, message.end_s()) && drawn(message.sender) && drawn(message.receiver);
        ++counts(shown, timely, TraceLevel::messages).messages;
        if (!shown || !timely || level_ < TraceLevel::messages) continue;
        ends_[message.sender_lane].push_back({id, false});
        ends_[message.receiver_lane].push_back({id, true});
    }
}

std::string Drawing::name(std::uint32_t lane) const {
    const StreamId stream = streams_[lane];
    std::string name = cast_.stream(stream);
    if (lane == stream) return name;
    const auto first = std::ranges::find(streams_.begin() + static_cast<std::ptrdiff_t>(view_.graph.streams().size()),
                                         streams_.end(), stream);
    return fmt::format("{}, channel {}", name, lane - (first - streams_.begin()) + 1);
}

Lane Drawing::lane(std::uint32_t number) const {
    const StreamId stream = streams_[number];
    Lane lane;
    std::vector<Slice> tasks;
    const auto& recorded = view_.timeline.recorded;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        const auto iteration = static_cast<std::uint32_t>(view_.iteration + 1 + i - recorded.size());
        for (const TaskId task : view_.graph.tasks_of(stream)) {
            const auto& [start_s, end_s] = recorded[i][task];
            if (in_time(start_s, end_s)) tasks.push_back({nanoseconds(start_s), nanoseconds(end_s), task, iteration});
        }
    }
    // A stream with a queue may run tasks in another order than that in which they were added.
    std::ranges::stable_sort(tasks, {}, [](const Slice& slice) { return std::tuple(slice.start_ns, slice.end_ns); });

    const bool with_acts = level_ >= TraceLevel::acts && !view_.timeline.trace.empty();
    const std::vector<Act> none;
    const std::vector<Act>& acts = with_acts ? view_.timeline.trace.acts[number] : none;
    const auto runs = act_runs(acts);
    for (const Slice& task : tasks) {
        const auto run = runs.find(key(task.task, task.iteration));
        if (number == stream || run != runs.end()) lane.slices.push_back(task);
        if (run == runs.end()) continue;
        for (std::size_t i = run->second.first; i < run->second.end; ++i) {
            if (!in_time(acts[i].start_s, acts[i].end_s)) continue;
            // Sums of seconds may have rounding errors.
            const auto within = [&task](double at_s) {
                return std::clamp(nanoseconds(at_s), task.start_ns, task.end_ns);
            };
            lane.slices.push_back(
                {within(acts[i].start_s), within(acts[i].end_s), task.task, task.iteration, &acts[i]});
        }
    }
    lane.arrows.reserve(ends_[number].size());
    for (const MessageEnd& end : ends_[number]) lane.arrows.push_back(end_of(end.message, end.arrives, lane));
    std::ranges::stable_sort(lane.arrows, {}, [](const ArrowEnd& end) { return std::tuple(end.at_ns, end.slice); });
    return lane;
}

ArrowEnd Drawing::end_of(MessageId id, bool arrives, const Lane& lane) const {
    const MessageRecord& message = view_.timeline.trace.messages[id];
    const TaskId task = arrives ? message.receiver : message.sender;
    const std::int64_t put_ns = nanoseconds(message.put_s), end_ns = nanoseconds(message.end_s());
    const Interval& whole = *interval(task, message.iteration);
    // Where two slices meet, a viewer may attach an arrow to either: it leaves in the second slice and arrives in the
    // first, a nanosecond before its end.
    const std::int64_t at_ns = std::clamp(arrives ? std::max(put_ns, end_ns - 1) : put_ns, nanoseconds(whole.start_s),
                                          nanoseconds(whole.end_s));
    auto slice = std::ranges::upper_bound(lane.slices, at_ns, {}, &Slice::start_ns);
    do --slice;
    while (slice->task != task || slice->iteration != message.iteration ||
           (slice->act != nullptr && slice->end_ns < at_ns));
    return {at_ns, static_cast<std::uint32_t>(slice - lane.slices.begin()), id, arrives};
}

std::vector<std::string> Drawing::account() const {
    std::vector<std::string> lines;
    lines.push_back(
        fmt::format("{} from {} to {} of simulated time", parts(drawn_), seconds(time_.start_s), seconds(time_.end_s)));
    if (hidden_ranks_ + hidden_servers_ > 0) {
        std::string who = fmt::format("{} of {} ranks", hidden_ranks_, cast_.ranks());
        if (cast_.servers() > 0) who += fmt::format(", {} of {} servers", hidden_servers_, cast_.servers());
        lines.push_back(fmt::format("left out: {}: {}", who, parts(by_process_)));
    }
    if (by_time_.any())
        lines.push_back(fmt::format("left out: {}: {}",
                                    whole_iteration_ ? "other iterations" : "outside the time range", parts(by_time_)));
    if (by_level_.any())
        lines.push_back(fmt::format("left out: below the level '{}': {}", word(level_), parts(by_level_)));
    if (view_.timeline.trace.empty())
        lines.push_back(level_ == TraceLevel::tasks ? "left out: below the level 'tasks': acts, messages and links"
                                                    : "left out: acts, messages and links, which were not recorded");
    return lines;
}

}  // namespace syncline

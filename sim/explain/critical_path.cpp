#include "sim/explain/window_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include "sim/taskgraph/phase_words.hpp"

namespace syncline {

namespace {

/// Finds the busiest link on a message's route: the one with the highest load relative to its bandwidth.
class BusiestLinks {
public:
    explicit BusiestLinks(const Recorded& recorded) : trace_(recorded.trace()) {
        load_.resize(trace_.links.size());
        for (const MessageRecord& message : trace_.messages) {
            const std::vector<std::uint32_t>& route = trace_.routes.at(message.route);
            for (std::size_t i = 0; i < route.size(); ++i)
                load_[route[i]] += static_cast<double>(message.bytes) * trace_.part(message.route, i) /
                                   trace_.links[route[i]].bandwidth_Bps;
        }
    }

    std::string of(const MessageRecord& message) const {
        const std::vector<std::uint32_t>& links = trace_.routes.at(message.route);
        const auto busiest = std::max_element(links.begin(), links.end(),
                                              [this](std::uint32_t a, std::uint32_t b) { return load_[a] < load_[b]; });
        return busiest == links.end() ? "" : trace_.links[*busiest].name;
    }

private:
    const Trace& trace_;
    std::vector<double> load_;
};

PathKind kind_of(const Task& task) {
    switch (task.phase) {
        case Phase::input_copy:
        case Phase::to_host:
        case Phase::to_device:
        case Phase::load:
            return PathKind::copy;
        case Phase::release:
            return PathKind::timer;
        case Phase::aggregate:
            return PathKind::reduction;
        default:
            return task.exchange == Task::no_exchange ? PathKind::compute : PathKind::transfer;
    }
}

PathKind kind_of(ActKind kind) {
    switch (kind) {
        case ActKind::copy:
            return PathKind::copy;
        case ActKind::reduction:
            return PathKind::reduction;
        case ActKind::messages:
        case ActKind::window:
            return PathKind::transfer;
        case ActKind::launch:
        case ActKind::send:
        case ActKind::receive:
            break;
    }
    return PathKind::overhead;
}

class WayBack {
public:
    WayBack(const Recorded& recorded, const TaskNames& names)
        : recorded_(recorded), names_(names), busiest_(recorded), ran_(recorded.graph().streams().size()) {
        for (std::uint32_t iteration = recorded.first_iteration(); iteration <= recorded.last_iteration(); ++iteration)
            for (TaskId task = 0; task < recorded.graph().tasks().size(); ++task)
                ran_[recorded.graph().tasks()[task].stream].push_back({task, iteration});
        for (std::vector<Ran>& tasks : ran_)
            std::stable_sort(tasks.begin(), tasks.end(), [&](const Ran& a, const Ran& b) {
                return std::pair(recorded.interval(a).start_s, recorded.interval(a).end_s) <
                       std::pair(recorded.interval(b).start_s, recorded.interval(b).end_s);
            });
        const TaskGraph& graph = recorded.graph();
        lanes_.resize(graph.streams().size());
        const std::vector<StreamId>& stream_of_lane = recorded.trace().stream_of_lane;
        for (std::uint32_t lane = 0; lane < stream_of_lane.size(); ++lane) lanes_[stream_of_lane[lane]].push_back(lane);
        const std::vector<MessageRecord>& messages = recorded.trace().messages;
        for (MessageId id = 0; id < messages.size() && recorded.trace().latency_travels; ++id)
            received_.emplace_back(messages[id].receiver_lane, messages[id].through_s, id);
        std::sort(received_.begin(), received_.end());
        place_.resize((recorded.last_iteration() + 1 - recorded.first_iteration()) * graph.tasks().size());
        for (const std::vector<Ran>& tasks : ran_)
            for (std::uint32_t i = 0; i < tasks.size(); ++i) place_[place_of(tasks[i])] = i;
    }

    std::vector<PathPiece> path() {
        at_ = recorded_.last_update();
        now_s_ = recorded_.window().end_s;
        // The path has fewer steps than there are events; more steps mean a cycle.
        std::size_t most = 10 + 4 * recorded_.trace().messages.size();
        for (const std::vector<Act>& acts : recorded_.trace().acts) most += acts.size();
        for (const std::vector<Ran>& tasks : ran_) most += 4 * tasks.size();
        while (now_s_ > recorded_.window().start_s) {
            if (most-- == 0) throw std::logic_error("the critical path contains a cycle");
            if (!back()) break;
        }
        if (now_s_ > recorded_.window().start_s)
            add(PathKind::waiting, "before the window", "", recorded_.window().start_s);
        std::reverse(pieces_.begin(), pieces_.end());
        return std::move(pieces_);
    }

private:
    /// Adds a segment from `start_s`, or the window's start, to `now_s_`.
    void add(PathKind kind, const std::string& what, const std::string& where, double start_s,
             const std::string& link = "") {
        start_s = std::max(start_s, recorded_.window().start_s);
        if (start_s >= now_s_) return;
        const double zero_s = recorded_.window().start_s;
        pieces_.push_back({kind, what, where, link, start_s - zero_s, now_s_ - zero_s,
                           word(recorded_.graph().tasks()[at_.task].phase)});
        now_s_ = start_s;
    }

    /// Goes one step back from `now_s_` in task `at_`; returns false if nothing happened before.
    bool back() {
        const Task& task = recorded_.graph().tasks()[at_.task];
        if (task.exchange != Task::no_exchange && now_s_ > recorded_.interval(at_).start_s) {
            if (const Act* act = act_before_now(task.stream)) {
                through(*act);
                return true;
            }
            // The steps have no length, or none were recorded.
            const Ran last = last_member(at_);
            if (recorded_.interval(last).start_s < now_s_) at_ = last;
            lane_ = any_lane;
        }
        const std::string where = names_.process(recorded_.process_of(at_.task));
        add(kind_of(task), names_.task(task), where, recorded_.interval(at_).start_s);
        return to_cause();
    }

    /// Returns the act in this task right before `now_s_`: of the lane that the path is in; or, where it comes from the
    /// task's end, or reaches the lane's start, of the stream's lane whose act ended last.
    const Act* act_before_now(StreamId stream) {
        const std::uint32_t own = lane_;
        const Act* last = nullptr;
        for (const std::uint32_t lane : lanes_[stream]) {
            const Act* act = act_before_now_in(lane);
            if (act == nullptr) continue;
            if (lane == own && act->end_s >= now_s_) {
                lane_ = lane;
                return act;
            }
            // An act that is under way in another lane is no cause.
            if (act->end_s > now_s_ || (last != nullptr && act->end_s <= last->end_s)) continue;
            last = act;
            lane_ = lane;
        }
        return last;
    }

    const Act* act_before_now_in(std::uint32_t lane) const {
        const std::vector<Act>& acts = recorded_.trace().acts[lane];
        const auto next =
            std::partition_point(acts.begin(), acts.end(), [this](const Act& act) { return act.start_s < now_s_; });
        if (next == acts.begin()) return nullptr;
        const Act& act = *(next - 1);
        return act.task == at_.task && act.iteration == at_.iteration ? &act : nullptr;
    }

    void through(const Act& act) {
        const Task& task = recorded_.graph().tasks()[act.task];
        const std::string& what = names_.task(task);
        if (act.last == Act::no_message) {
            add(kind_of(act.kind), what, names_.process(recorded_.process_of(act.task)), act.start_s);
            return;
        }
        for (MessageId id = act.last; id != Act::no_message && now_s_ > recorded_.window().start_s;) {
            const MessageRecord& message = recorded_.trace().messages[id];
            const ProcessId from = recorded_.process_of(message.sender), to = recorded_.process_of(message.receiver);
            const std::string where = fmt::format("{} -> {}", names_.process(from), names_.process(to));
            add(PathKind::latency, what, where, message.through_s);
            add(PathKind::transfer, what, where, message.start_s(), busiest_.of(message));
            const bool by_sender = message.sender_decides();
            add(PathKind::latency, what, where, by_sender ? message.put_s : message.got_s);  // of a handshake
            at_ = {by_sender ? message.sender : message.receiver, message.iteration};
            lane_ = by_sender ? message.sender_lane : message.receiver_lane;
            id = by_sender ? Act::no_message : received_at(message.receiver_lane, message.got_s);
        }
    }

    /// Returns the message whose end let the lane post its next receive at this time; none if the lane did itself.
    MessageId received_at(std::uint32_t lane, double at_s) const {
        auto found = std::lower_bound(received_.begin(), received_.end(), std::tuple(lane, at_s, MessageId{0}));
        for (; found != received_.end() && std::get<0>(*found) == lane && std::get<1>(*found) == at_s; ++found)
            if (recorded_.trace().messages[std::get<2>(*found)].start_s() < at_s) return std::get<2>(*found);
        return Act::no_message;
    }

    /// Returns the member that entered the exchange last.
    Ran last_member(const Ran& ran) const {
        const std::vector<TaskId>& members = recorded_.meeting(ran.task);
        const auto start_s = [&](TaskId task) { return recorded_.interval({task, ran.iteration}).start_s; };
        return {*std::max_element(members.begin(), members.end(),
                                  [&](TaskId a, TaskId b) { return start_s(a) < start_s(b); }),
                ran.iteration};
    }

    /// Goes to the task that ended last of all that this task waited for; returns false if there is none.
    bool to_cause() {
        const TaskGraph& graph = recorded_.graph();
        const Task& task = graph.tasks()[at_.task];
        cause_.reset();
        consider_dependencies(at_.task);
        consider_before(task.stream, at_);
        if (const QueueId queue = graph.streams()[task.stream].queue; queue != Stream::no_queue) {
            // An item that all streams of the queue agree on waits for all of them.
            const std::vector<StreamId>& streams = graph.queues()[queue];
            const auto own = graph.tasks_of(task.stream);
            const auto item = static_cast<std::size_t>(std::find(own.begin(), own.end(), at_.task) - own.begin());
            for (const StreamId stream : streams) {
                const Ran other{graph.tasks_of(stream)[item], at_.iteration};
                consider_dependencies(other.task);
            }
        }
        if (graph.streams()[task.stream].turns != Stream::no_turns) consider_turns(task.stream);
        if (!cause_) return false;
        const double end_s = recorded_.interval(*cause_).end_s;
        add(PathKind::waiting, names_.task(task), names_.process(recorded_.process_of(at_.task)), end_s);
        at_ = *cause_;
        lane_ = any_lane;
        return true;
    }

    void consider_dependencies(TaskId task) {
        for (const Dependency& dependency : recorded_.graph().dependencies_of(task)) {
            if (at_.iteration - recorded_.first_iteration() >= dependency.distance)
                consider({dependency.on, at_.iteration - dependency.distance});
        }
    }

    /// Considers the tasks that ran last on the streams with which this one takes turns.
    void consider_turns(StreamId stream) {
        const std::vector<Stream>& streams = recorded_.graph().streams();
        for (StreamId other = 0; other < streams.size(); ++other) {
            if (other == stream || streams[other].turns != streams[stream].turns) continue;
            const auto next = std::ranges::partition_point(
                ran_[other], [&](const Ran& ran) { return recorded_.interval(ran).end_s <= now_s_; });
            // Those that take no time hold nobody up.
            if (next == ran_[other].begin()) continue;
            const Ran& before = *std::prev(next);
            if (recorded_.interval(before).end_s > recorded_.interval(before).start_s) consider(before);
        }
    }

    /// Considers the task that the stream ran before `ran`.
    void consider_before(StreamId stream, const Ran& ran) {
        const std::vector<Ran>& tasks = ran_[stream];
        const std::uint32_t place = place_[place_of(ran)];
        if (place > 0) consider(tasks[place - 1]);
    }

    std::size_t place_of(const Ran& ran) const {
        return (ran.iteration - recorded_.first_iteration()) * recorded_.graph().tasks().size() + ran.task;
    }

    void consider(const Ran& ran) {
        const double end_s = recorded_.interval(ran).end_s;
        if (end_s > now_s_) return;
        if (!cause_ || end_s > recorded_.interval(*cause_).end_s) cause_ = ran;
    }

    const Recorded& recorded_;
    const TaskNames& names_;
    const BusiestLinks busiest_;
    std::vector<std::vector<Ran>> ran_;              ///< by stream, in order of time
    std::vector<std::vector<std::uint32_t>> lanes_;  ///< by stream
    std::vector<std::tuple<std::uint32_t, double, MessageId>>
        received_;                      ///< by lane, with the time of the last byte, in order; if latency travels
    std::vector<std::uint32_t> place_;  ///< index in its stream's list, by place_of()
    std::vector<PathPiece> pieces_;     ///< in reverse order of time
    static constexpr std::uint32_t any_lane = ~std::uint32_t{0};

    Ran at_;
    std::uint32_t lane_ = any_lane;  ///< of its stream, that the path is in
    double now_s_ = 0;
    std::optional<Ran> cause_;
};

}  // namespace

std::vector<PathPiece> critical_path(const Recorded& recorded, const TaskNames& names) {
    return WayBack(recorded, names).path();
}

std::vector<PathPiece> joined(const std::vector<PathPiece>& path) {
    std::vector<PathPiece> result;
    const auto alike = [](const PathPiece& a, const PathPiece& b) {
        return std::tie(a.kind, a.what, a.where, a.link) == std::tie(b.kind, b.what, b.where, b.link);
    };
    for (const PathPiece& piece : path) {
        if (!result.empty() && alike(result.back(), piece))
            result.back().end_s = piece.end_s;
        else
            result.push_back(piece);
    }
    return result;
}

std::vector<PathShare> shares_of(const std::vector<PathPiece>& path, double window_s) {
    struct Sum {
        PathShare share;
        std::map<std::string, double> by_link;
    };
    std::map<std::pair<PathKind, std::string>, Sum> sums;
    for (const PathPiece& piece : path) {
        Sum& sum = sums[{piece.kind, piece.what}];
        ++sum.share.pieces;
        sum.share.seconds += piece.end_s - piece.start_s;
        if (!piece.link.empty()) sum.by_link[piece.link] += piece.end_s - piece.start_s;
    }
    std::vector<PathShare> shares;
    for (auto& [thing, sum] : sums) {
        PathShare& share = shares.emplace_back(sum.share);
        share.kind = thing.first;
        share.what = thing.second;
        share.share = window_s > 0 ? share.seconds / window_s : 0;
        share.links = sum.by_link.size();
        double most_s = 0;
        for (const auto& [link, seconds] : sum.by_link) {
            if (seconds <= most_s) continue;
            most_s = seconds;
            share.link = link;
        }
    }
    std::stable_sort(shares.begin(), shares.end(),
                     [](const PathShare& a, const PathShare& b) { return a.seconds > b.seconds; });
    return shares;
}

std::vector<PhaseShare> phases_of(const std::vector<PathPiece>& path, double window_s) {
    std::map<std::string, double> sums;
    for (const PathPiece& piece : path) sums[piece.phase] += piece.end_s - piece.start_s;
    std::vector<PhaseShare> phases;
    for (const auto& [phase, seconds] : sums) phases.push_back({phase, seconds, window_s > 0 ? seconds / window_s : 0});
    std::stable_sort(phases.begin(), phases.end(),
                     [](const PhaseShare& a, const PhaseShare& b) { return a.seconds > b.seconds; });
    return phases;
}

}  // namespace syncline

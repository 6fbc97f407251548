#include "sim/replay/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/replay/rounding.hpp"
#include "sim/taskgraph/phase_words.hpp"
#include "sim/taskgraph/ticks.hpp"

namespace syncline {

namespace {

constexpr std::uint64_t report_every = 4096;  // in messages

}  // namespace

Session::Session(Simulator& runner, Wires& network, const Speeds& speeds_of_processes, const TaskGraph& task_graph,
                 const Lanes& lanes_of_streams, const Symmetry* symmetry, const ReplayOptions& options)
    : simulator(runner),
      wires(network),
      speeds(speeds_of_processes),
      graph(task_graph),
      lanes(lanes_of_streams),
      iterations(options.iterations),
      symmetry_(symmetry),
      options_(options),
      reach_(std::max(1u, task_graph.largest_distance())),
      agreement_(task_graph, runner, options.iterations),
      ended_(graph.tasks().size(), 0),
      first_waiter_(graph.tasks().size(), nobody),
      next_waiter_(graph.streams().size()),
      computations_(graph.processes().size()),
      turn_s_(graph.turns(), 0),
      engines_(graph.processes().size()),
      copied_s_(lanes.count()),
      began_s_(graph.processes().size()),
      folded_(iterations, 0),
      shown_(options.measured) {
    timeline.iteration_end_s.resize(iterations, 0);
    timeline.recorded.resize(std::min(options.measured, 2 * options.averaged + reach_ - 1) + 1);
    timeline.part_end_s.resize(options.parts.size());
    timeline.computed_s.resize(graph.processes().size(), 0);
    if (!options.parts.empty()) {
        doing_.resize(graph.processes().size());
        timeline.exposed_s.resize(graph.processes().size(), 0);
        timeline.on_host_s.resize(graph.processes().size(), 0);
    }
    for (StreamId stream = 0; stream < graph.streams().size(); ++stream) incomplete_ += background(stream) ? 0U : 1U;
    for (std::vector<Interval>& intervals : timeline.recorded) intervals.resize(graph.tasks().size());
    timeline.sent_by.resize(graph.processes().size(), 0);
    timeline.received_by.resize(graph.processes().size(), 0);
    if (graph.waits_for_first()) {
        choosing_.resize(graph.tasks().size());
        awaits_first_.resize(graph.tasks().size(), false);
        for (TaskId task = 0; task < graph.tasks().size(); ++task)
            if (graph.first_of(task) > 0)
                for (const Dependency& dependency : graph.dependencies_of(task))
                    choosing_[dependency.on].push_back(task);
    }
    if (options.messages) recorder_.emplace(timeline.trace, wires, lanes);
    if (!options.fold || options.messages) return;
    if (RingFolding::possible(graph) && options.parts.empty())
        folding_.emplace(graph, lanes, wires, symmetry, simulator);
    if (options.averaged == 1 && options.measured > 0 && iterations_alike(graph))
        steady_.emplace(graph.tasks().size(), graph.tasks().size() / (images() / graph.images()));
}

Coroutine<> Session::await(StreamId stream, TaskId task, std::uint32_t iteration) {
    while (!has_ended(task, iteration)) {
        wait_for(stream, task);
        co_await simulator.park(stream);
    }
}

void Session::wait_no_more(StreamId stream, TaskId task) {
    StreamId* waiter = &first_waiter_[task];
    while (*waiter != nobody && *waiter != stream) waiter = &next_waiter_[*waiter];
    if (*waiter == stream) *waiter = next_waiter_[stream];
}

bool Session::enough_ended(TaskId task, std::uint32_t iteration) const {
    const auto dependencies = graph.dependencies_of(task);
    return std::ranges::count_if(dependencies, [&](const Dependency& dependency) {
               return dependency.distance > iteration || has_ended(dependency.on, iteration - dependency.distance);
           }) >= std::ptrdiff_t{graph.first_of(task)};
}

Coroutine<> Session::await_first(StreamId stream, TaskId task, std::uint32_t iteration) {
    while (!enough_ended(task, iteration)) {
        awaits_first_[task] = true;
        co_await simulator.park(stream);
    }
    awaits_first_[task] = false;
}

Coroutine<> Session::turn(StreamId stream, double seconds) {
    double& next_s = turn_s_[graph.streams()[stream].turns];
    const double wait_s = std::max(0.0, next_s - simulator.now_s());
    next_s = std::max(next_s, simulator.now_s());
    next_s += speeds.elapsed_s(graph.streams()[stream].process, next_s, seconds);
    co_await simulator.sleep(stream, wait_s);
}

bool Session::given_up(TaskId task, std::uint32_t iteration) {
    const TaskId by = graph.given_up_by(task);
    if (by == no_task) return false;
    const ExchangeId exchange = graph.tasks()[task].exchange;
    if (exchange == Task::no_exchange) return has_ended(by, iteration);
    const std::size_t members = graph.group(graph.exchange(exchange).group).size();
    const auto known = given_up_.try_emplace({exchange, iteration}, has_ended(by, iteration), members).first;
    const bool result = known->second.first;
    if (--known->second.second == 0) given_up_.erase(known);
    return result;
}

void Session::started(TaskId task, std::uint32_t iteration, double now_s) {
    if (Interval* recorded = interval(task, iteration)) recorded->start_s = now_s;
    if (steady_) steady_->started(task, iteration, now_s);
    if (!doing_.empty()) count_activity(task, true, now_s);
    const ProcessId process = graph.streams()[graph.tasks()[task].stream].process;
    if (graph.processes()[process].begins_with == task) began_s_[process][iteration % 2] = now_s;
}

void Session::ended(TaskId task, std::uint32_t iteration, double now_s) {
    ended_[task] = iteration + 1;
    if (!doing_.empty()) count_activity(task, false, now_s);
    if (Interval* recorded = interval(task, iteration)) recorded->end_s = now_s;
    std::vector<double>& ends_s =
        options_.parts.empty() ? timeline.iteration_end_s : timeline.part_end_s[part_of(task)];
    if (iteration >= ends_s.size()) ends_s.resize(iteration + 1, 0);
    ends_s[iteration] = std::max(ends_s[iteration], now_s);
    if (steady_ && shown_ == options_.measured && steady_->ended(task, iteration, now_s)) repeat_from(iteration);
    agreement_.ended(task, iteration);
    if (!choosing_.empty())
        for (const TaskId chooser : choosing_[task])
            if (awaits_first_[chooser]) simulator.unpark(graph.tasks()[chooser].stream);
    // The list is emptied first: waking a stream may let others run, which may begin to wait for this task's next
    // iteration.
    for (StreamId stream = std::exchange(first_waiter_[task], nobody); stream != nobody;) {
        const StreamId next = next_waiter_[stream];
        simulator.unpark(stream);
        stream = next;
    }
}

void Session::count_activity(TaskId task, bool begins, double now_s) {
    const Stream& stream = graph.streams()[graph.tasks()[task].stream];
    Doing& doing = doing_[stream.process];
    const double since_s = now_s - std::exchange(doing.since_s, now_s);
    if (doing.exchanging > 0 && doing.computing == 0) timeline.exposed_s[stream.process] += since_s;
    timeline.on_host_s[stream.process] += doing.on_host * since_s;
    const auto count = [&](std::uint32_t& number, bool is) {
        if (is) number = begins ? number + 1 : number - 1;
    };
    count(doing.computing, stream.kind == StreamKind::compute);
    count(doing.exchanging, graph.tasks()[task].exchange != Task::no_exchange && stream.kind != StreamKind::receive);
    count(doing.on_host, stream.kind == StreamKind::aggregate || stream.kind == StreamKind::host);
}

Coroutine<> Session::compute(StreamId stream, std::uint32_t iteration, double seconds, TaskId until) {
    const ProcessId process = graph.streams()[stream].process;
    seconds *= graph.processes()[process].pace.factor(iteration);
    const SpeedBesideExchange& slowed = graph.processes()[process].speed_beside_exchange;
    if (!slowed.slows() && until == no_task) {
        seconds = speeds.elapsed_s(process, simulator.now_s(), seconds);
        co_await simulator.sleep(stream, seconds);
        timeline.computed_s[process] += seconds;
        co_return;
    }
    const double start_s = simulator.now_s();
    Computation& computation = computations_[process];
    computation.under_way = stream;
    if (until != no_task) wait_for(stream, until);
    for (double left_s = seconds; left_s > 0;) {
        const double speed = slowed.beside(computation.exchanges);
        const double since_s = simulator.now_s();
        computation.changed = false;
        co_await simulator.park(stream, speeds.elapsed_s(process, since_s, left_s / speed));
        if (!computation.changed || (until != no_task && has_ended(until, iteration))) break;
        left_s -= speeds.work_s(process, since_s, simulator.now_s()) * speed;
    }
    timeline.computed_s[process] += simulator.now_s() - start_s;
    computation.under_way = Computation::none;
    if (until != no_task) wait_no_more(stream, until);
}

double Session::until_tick_s(ProcessId process, std::uint32_t iteration, double period_s) const {
    const double since_s = simulator.now_s() - began_s_[process][iteration % 2];
    const double left_s = next_tick(since_s, period_s) - since_s;
    // Releases at the tick that was just awaited happen at the same instant.
    return left_s > tick_rounding * since_s ? left_s : 0;
}

Coroutine<> Session::copy(LaneId lane, bool outwards, double seconds) {
    CopyEngine& engine = engines_[graph.streams()[lanes.stream(lane)].process][outwards];
    engine.ready.emplace_back(lane, seconds);
    if (engine.ready.size() == 1) {
        simulator.at_end_of_instant([this, &engine] {
            std::sort(engine.ready.begin(), engine.ready.end());
            for (const auto& [ready, copy_s] : std::exchange(engine.ready, {})) {
                engine.until_s = std::max(engine.until_s, simulator.now_s());
                engine.until_s +=
                    speeds.elapsed_s(graph.streams()[lanes.stream(ready)].process, engine.until_s, copy_s);
                copied_s_[ready] = engine.until_s;
                simulator.unpark(ready);
            }
        });
    }
    co_await simulator.park(lane);
    co_await simulator.sleep(lane, copied_s_[lane] - simulator.now_s());
}

void Session::count_exchange(ProcessId process, ExchangeId exchange, bool begins) {
    const ExchangeClass kind = graph.exchange(exchange).kind;
    if (kind == ExchangeClass::host) return;
    const SpeedBesideExchange& slowed = graph.processes()[process].speed_beside_exchange;
    Computation& computation = computations_[process];
    const double before = slowed.beside(computation.exchanges);
    std::uint32_t& number = computation.exchanges[static_cast<std::size_t>(kind)];
    number = begins ? number + 1 : number - 1;
    if (slowed.beside(computation.exchanges) == before) return;
    computation.changed = true;
    if (computation.under_way != Computation::none) simulator.unpark(computation.under_way);
}

void Session::completed(StreamId stream) {
    if (background(stream) || --incomplete_ > 0) return;
    if (std::ranges::any_of(options_.parts, &PartReplay::background))
        simulator.at_end_of_instant([] { throw AllKnown{}; });
}

void Session::sent(std::uint32_t iteration, std::uint64_t messages) {
    if (measures(iteration)) timeline.messages += messages;
    messages_ += messages;
    if (options_.progress && messages_ >= next_report_) {
        next_report_ = messages_ + report_every;
        options_.progress({messages_ * images(), simulator.now_s()});
    }
}

void Session::folded(std::uint32_t iteration, std::uint64_t messages) {
    folded_[iteration] += messages;
    sent(iteration, messages);
}

void Session::repeat_from(std::uint32_t last) {
    if (last >= options_.measured) return;
    shown_ = last;
    for (std::vector<double>& ends_s : timeline.part_end_s) ends_s.resize(iterations, 0);
    timeline.iterations_folded = options_.measured - last;
    const double period_s = steady_->period_s();
    const auto later_s = [&](std::uint32_t iteration) { return (iteration - last) * period_s; };
    for (std::uint32_t i = last + 1; i < iterations; ++i) {
        timeline.iteration_end_s[i] = timeline.iteration_end_s[last] + later_s(i);
        for (std::vector<double>& ends_s : timeline.part_end_s) ends_s[i] = ends_s[last] + later_s(i);
    }
    const std::vector<Interval> intervals = steady_->intervals(last);
    for (std::uint32_t i = last; i <= options_.measured; ++i) {
        for (TaskId task = 0; task < intervals.size(); ++task)
            if (Interval* recorded = interval(task, i))
                *recorded = {intervals[task].start_s + later_s(i), intervals[task].end_s + later_s(i)};
    }
    simulator.at_end_of_instant([] { throw AllKnown{}; });
}

void Session::carried(const Pair& pair, std::uint64_t bytes, std::uint64_t on_wires) {
    timeline.bytes_sent += bytes;
    timeline.sent_by[pair.from] += bytes;
    timeline.received_by[symmetry_ == nullptr ? pair.to : symmetry_->representative(pair.to)] += bytes;
    if (!wires.adapts())
        wires.carried(pair.from, pair.to, wires.route_numbers(pair.from, pair.to, pair.channel), on_wires);
}

void Session::finish() {
    const auto mean = [this](std::uint64_t& count) { count = (count + counted() / 2) / counted(); };
    mean(timeline.messages);
    mean(timeline.bytes_sent);
    for (std::uint64_t& bytes : timeline.sent_by) mean(bytes);
    for (std::uint64_t& bytes : timeline.received_by) mean(bytes);
    if (folding_) {
        const std::uint32_t counted = steady_ ? 1 : this->counted();
        for (std::uint32_t i = shown_ + 1 - counted; i <= shown_; ++i) timeline.messages_folded += folded_[i];
        // Early or late arrivals in an iteration may result from an earlier one. Iterations that are not simulated have
        // the same error as the one that represents them.
        for (std::uint32_t i = 0; i <= options_.measured; ++i)
            timeline.folding_error_s += folding_->error_s(std::min(i, shown_)) / counted;
        timeline.messages_folded = (timeline.messages_folded + counted / 2) / counted;
    }
    if (symmetry_ != nullptr) unfold();
    if (any_rounded(graph)) {
        count_rounded(graph, lanes, counted(), timeline, wires);
        timeline.folding_error_s += (options_.measured + 1) * rounding_error_s(graph, lanes, wires) / counted();
    }
    // The ends of all iterations are sums of times that a folded replay adds up in another order.
    constexpr double rounding = 1e-12;
    if (timeline.messages_folded > 0 || timeline.iterations_folded > 0)
        timeline.folding_error_s += rounding * timeline.iteration_end_s[options_.measured];
    if (timeline.iterations_folded > 0) timeline.folding_error_s += timeline.iterations_folded * steady_->spread_s();
    timeline.links = wires.uses();
    for (LinkUse& link : timeline.links) mean(link.bytes);
    if (recorder_) recorder_->finish();
}

void Session::unfold() {
    const std::uint64_t simulated = timeline.messages - timeline.messages_folded;
    timeline.images = images();
    timeline.messages *= images();
    timeline.messages_folded = timeline.messages - simulated;
    timeline.bytes_sent *= images();
    for (ProcessId process = 0; process < graph.processes().size(); ++process) {
        timeline.sent_by[process] = timeline.sent_by[symmetry_->representative(process)];
        timeline.received_by[process] = timeline.received_by[symmetry_->representative(process)];
    }
    std::vector<std::vector<StreamId>> streams(graph.processes().size());
    for (StreamId stream = 0; stream < graph.streams().size(); ++stream)
        streams[graph.streams()[stream].process].push_back(stream);
    for (ProcessId process = 0; process < graph.processes().size(); ++process) {
        if (symmetry_->simulated(process)) continue;
        const std::vector<StreamId>& simulated_streams = streams[symmetry_->representative(process)];
        for (std::size_t i = 0; i < streams[process].size(); ++i) {
            const auto from = graph.tasks_of(simulated_streams[i]), to = graph.tasks_of(streams[process][i]);
            for (std::size_t task = 0; task < to.size(); ++task)
                for (std::vector<Interval>& intervals : timeline.recorded) intervals[to[task]] = intervals[from[task]];
        }
    }
}

std::string Session::stuck(const std::function<std::pair<std::uint32_t, std::uint32_t>(StreamId)>& step_of) const {
    constexpr std::size_t shown = 8;
    std::string text;
    std::size_t count = 0;
    for (StreamId stream = 0; stream < graph.streams().size(); ++stream) {
        // The first task of the earliest iteration that the stream has not completed.
        if (!simulated(graph.streams()[stream].process)) continue;
        const auto tasks = graph.tasks_of(stream);
        const auto at =
            std::min_element(tasks.begin(), tasks.end(), [this](TaskId a, TaskId b) { return ended_[a] < ended_[b]; });
        if (at == tasks.end() || ended_[*at] == iterations_of(graph.streams()[stream].process)) continue;
        if (options_.described) {
            const std::string what = options_.described(*at);
            if (!what.empty() && ++count <= shown) text += "\n  " + what;
            continue;
        }
        if (++count > shown) continue;
        const Task& task = graph.tasks()[*at];
        text += fmt::format("\n  process {}: {} {} of iteration {}", graph.streams()[stream].process, word(task.phase),
                            task.subject, ended_[*at]);
        if (task.exchange == Task::no_exchange) continue;
        const auto [step, repetition] = step_of(stream);
        text += fmt::format(", step {}, repetition {}", step, repetition);
    }
    if (count > shown) text += fmt::format("\n  and {} more", count - shown);
    return text;
}

Interval* Session::interval(TaskId task, std::uint32_t iteration) {
    const auto size = static_cast<std::uint32_t>(timeline.recorded.size());
    const std::uint32_t end = options_.parts.empty() ? options_.measured + 1 : options_.parts[part_of(task)].iterations;
    if (iteration + size < end || iteration >= end) return nullptr;
    return &timeline.recorded[iteration + size - end][task];
}

}  // namespace syncline

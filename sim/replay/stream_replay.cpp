#include "sim/replay/stream_replay.hpp"

namespace syncline {

StreamReplay::StreamReplay(Session& session, StreamId stream)
    : session_(session),
      stream_(stream),
      process_(session.graph.streams()[stream].process),
      simulator_(session.simulator) {
    const std::vector<LaneId> lanes = session.lanes.of(stream);
    if (lanes.size() == 1) return;
    for (const LaneId lane : lanes) lanes_.push_back(std::make_unique<LaneReplay>(session, lane, lanes_));
}

std::vector<Coroutine<>> StreamReplay::further() {
    std::vector<Coroutine<>> programs;
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) programs.push_back(lanes_[lane]->serve());
    return programs;
}

Coroutine<> StreamReplay::run() {
    const TaskGraph& graph = session_.graph;
    const auto tasks = static_cast<std::uint32_t>(graph.tasks_of(stream_).size());
    const std::uint32_t iterations = session_.iterations_of(process_);
    if (const double start_s = session_.start_s(process_); start_s > 0 && iterations > 0)
        co_await simulator_.sleep(stream_, start_s);
    for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
        for (std::uint32_t position = 0; position < tasks; ++position) {
            TaskId id = graph.tasks_of(stream_)[position];
            if (graph.streams()[stream_].queue != Stream::no_queue)
                id = co_await session_.next(stream_, iteration, position);
            if (graph.first_of(id) > 0) co_await session_.await_first(stream_, id, iteration);
            for (const Dependency& dependency : graph.dependencies_of(id)) {
                if (graph.first_of(id) > 0) break;
                if (dependency.distance > iteration) continue;
                const std::uint32_t in = iteration - dependency.distance;
                if (!session_.has_ended(dependency.on, in)) co_await session_.await(stream_, dependency.on, in);
            }
            if (const double down_s = session_.speeds.down_s(process_, simulator_.now_s()); down_s > 0)
                co_await simulator_.sleep(stream_, down_s);
            const Task& task = graph.tasks()[id];
            const bool given_up = graph.gives_up() && session_.given_up(id, iteration);
            if (graph.streams()[stream_].turns != Stream::no_turns && !given_up)
                co_await session_.turn(stream_, task.seconds);
            session_.started(id, iteration, simulator_.now_s());
            if (given_up) {
                // It takes no time.
            } else if (task.exchange != Task::no_exchange) {
                // A stream that waits for another stage does not slow the computation.
                const bool busy = graph.streams()[stream_].kind != StreamKind::receive;
                if (busy) session_.count_exchange(process_, task.exchange, true);
                co_await run_exchange(id, iteration);
                if (busy) session_.count_exchange(process_, task.exchange, false);
            } else if (task.seconds > 0 && graph.streams()[stream_].kind == StreamKind::compute) {
                co_await session_.compute(stream_, iteration, graph.seconds_of(id, iteration), graph.given_up_by(id));
            } else if (task.tick_s > 0) {
                co_await simulator_.sleep(stream_, session_.until_tick_s(process_, iteration, task.tick_s));
            } else if (task.seconds > 0 && graph.streams()[stream_].kind == StreamKind::load) {
                co_await simulator_.sleep(stream_, task.seconds);  // it is the storage's
            } else if (task.seconds > 0) {
                co_await simulator_.sleep(stream_,
                                          session_.speeds.elapsed_s(process_, simulator_.now_s(), task.seconds));
            }
            session_.ended(id, iteration, simulator_.now_s());
        }
    }
    session_.completed(stream_);
    for (std::size_t lane = 1; lane < lanes_.size(); ++lane) lanes_[lane]->close();
    if (lanes_.size() != 1) co_return;
    lanes_.front()->report_bytes();
    lanes_.front()->disconnect();
    lanes_.clear();
}

Coroutine<> StreamReplay::run_exchange(TaskId id, std::uint32_t iteration) {
    const Exchange& exchange = session_.graph.exchange(session_.graph.tasks()[id].exchange);
    const std::uint32_t lanes = exchange.algorithm->lanes();
    if (lanes_.empty()) lanes_.push_back(std::make_unique<LaneReplay>(session_, stream_, lanes_));
    bool anything = false, contributes = false, receives = false;
    for (std::uint32_t number = 0; number < lanes; ++number) {
        LaneReplay& lane = *lanes_[number];
        lane.prepare(id, iteration, number);
        anything = anything || lane.has_steps();
        contributes = contributes || lane.contributes();
        receives = receives || lane.receives();
    }
    if (!anything) co_return;
    LaneReplay& first = *lanes_.front();
    co_await first.spend(ActKind::launch, exchange.protocol.replaces_transport() ? exchange.protocol.launch_s
                                                                                 : session_.wires.transport().launch_s);
    if (contributes) co_await first.copy(Staging::Unit::collective, true, exchange.bytes);
    for (std::uint32_t number = 1; number < lanes; ++number) lanes_[number]->start();
    co_await first.run();
    for (std::uint32_t number = 1; number < lanes; ++number) co_await lanes_[number]->end();
    if (receives) co_await first.copy(Staging::Unit::collective, false, exchange.bytes);
}

void StreamReplay::report_bytes() {
    for (const auto& lane : lanes_) lane->report_bytes();
}

}  // namespace syncline

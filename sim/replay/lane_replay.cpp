#include "sim/replay/lane_replay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace syncline {

namespace {

bool turns(const Message& message) {
    return message.turn != 0;
}

ProcessId first_of_part(const TaskGraph& graph, ProcessId process) {
    return graph.parts().empty() ? 0 : graph.parts()[graph.processes()[process].part].process;
}

}  // namespace

LaneReplay::LaneReplay(Session& session, LaneId lane, const std::vector<std::unique_ptr<LaneReplay>>& siblings)
    : session_(session),
      lane_(lane),
      siblings_(siblings),
      stream_(session.lanes.stream(lane)),
      process_(session.graph.streams()[stream_].process),
      lateness_(session.graph.lateness(session.graph.processes()[process_].part)),
      first_(first_of_part(session.graph, process_)),
      transport_(session.wires.transport()),
      simulator_(session.simulator),
      travels_(session.wires.latency_travels()) {
    if (travels_) simulator_.on_receipt(lane_, [this] { post(); });
}

void LaneReplay::record(ActKind kind, double start_s, double end_s) {
    if (recorder() == nullptr) return;
    const bool waits = kind == ActKind::messages || kind == ActKind::window;
    recorder()->acted(lane_, {start_s, end_s, task_, iteration_, waits ? last_ : Act::no_message, kind});
}

Coroutine<> LaneReplay::spend(ActKind kind, double seconds) {
    const double start_s = simulator_.now_s();
    co_await simulator_.sleep(lane_, session_.speeds.elapsed_s(process_, start_s, seconds));
    record(kind, start_s, simulator_.now_s());
}

Coroutine<> LaneReplay::spend(Rest rest) {
    const double start_s = simulator_.now_s();
    // A single sleep, so that recording changes no sum; the last act ends when the sleep did.
    co_await simulator_.sleep(lane_, rest.seconds());
    if (recorder() == nullptr) co_return;
    const double end_s = simulator_.now_s();
    const double latency_end_s = rest.receive_s + rest.reduction_s > 0 ? start_s + rest.latency_s : end_s;
    const double receive_end_s = rest.reduction_s > 0 ? latency_end_s + rest.receive_s : end_s;
    record(ActKind::messages, std::exchange(wait_start_s_, MessageRecord::never), latency_end_s);  // once per step
    record(ActKind::receive, latency_end_s, receive_end_s);
    record(ActKind::reduction, receive_end_s, end_s);
}

LaneReplay::Current::Current(const Session& session, const Task& task, std::uint32_t iteration, std::uint32_t lane)
    : exchange(session.graph.exchange(task.exchange)),
      id(task.exchange),
      group(session.graph.group(exchange.group)),
      program(exchange.algorithm->lane_program(lane, task.member, static_cast<std::uint32_t>(group.size()),
                                               exchange.bytes, iteration)),
      channel(session.lanes.channel(exchange, program)),
      walk(program),
      posted(program) {}

void LaneReplay::prepare(TaskId id, std::uint32_t iteration, std::uint32_t number) {
    task_ = id;
    iteration_ = iteration;
    recorder_ = session_.recorder(iteration);
    steps_done_ = 0;
    now_.emplace(session_, session_.graph.tasks()[id], iteration, number);
    const std::vector<Step>& steps = now_->program.steps;
    ports_.resize(std::max(ports_.size(), steps.size()));
    const auto port = [&](const Message& message, bool outwards) {
        return turns(message) ? nullptr : &peer(now_->group[message.peer], outwards);
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
        ports_[i].out.clear();
        ports_[i].in.clear();
        ports_[i].turn = std::any_of(steps[i].sends.begin(), steps[i].sends.end(), turns) ||
                         std::any_of(steps[i].receives.begin(), steps[i].receives.end(), turns);
        for (const Message& message : steps[i].sends) ports_[i].out.push_back(port(message, true));
        for (const Message& message : steps[i].receives) ports_[i].in.push_back(port(message, false));
    }
}

bool LaneReplay::contributes() const {
    const std::vector<Step>& steps = now_->program.steps;
    return !steps.empty() && (!steps.front().sends.empty() || steps.front().reduce);
}

bool LaneReplay::receives() const {
    return std::any_of(now_->program.steps.begin(), now_->program.steps.end(),
                       [](const Step& step) { return !step.receives.empty(); });
}

Coroutine<> LaneReplay::run() {
    constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();
    RingFolding* folding = session_.folding();
    const RingFolding::Pass pass =
        folding == nullptr ? RingFolding::Pass{} : folding->begin(lane_, now_->id, iteration_);
    if (pass.layout == nullptr) {
        co_await run_steps(all, {});
        co_return;
    }
    padded_ = pass.layout->padded;
    for (std::uint32_t ring = 0; ring < pass.layout->rings.size(); ++ring) {
        const RingFolding::Visit visit = folding->enter(lane_, pass, ring);
        co_await run_steps(pass.layout->rings[ring].steps, visit);
        folding->leave(visit);
    }
    padded_ = false;
}

Coroutine<> LaneReplay::serve() {
    for (;;) {
        while (!started_ && !closed_) co_await simulator_.park(lane_);
        if (!started_) co_return;
        co_await run();
        started_ = false;
        if (std::exchange(awaited_, false)) simulator_.unpark(stream_);
    }
}

void LaneReplay::start() {
    started_ = true;
    simulator_.unpark(lane_);
}

Coroutine<> LaneReplay::end() {
    while (started_) {
        awaited_ = true;
        co_await simulator_.park(stream_);
    }
}

void LaneReplay::close() {
    closed_ = true;
    simulator_.unpark(lane_);
}

void LaneReplay::skip(std::uint32_t steps) {
    if (steps == 0) return;
    Walk& walk = now_->walk;
    const Partition& partition = now_->program.partition;
    // Receives that are posted are for the steps after the folded ones, if these receive from the same peers.
    std::vector<std::uint32_t> posted;  // numbers of their steps
    for (Walk ahead = walk; ahead != now_->posted && !ahead.done(); ahead.next())
        if (!ahead.step().receives.empty()) posted.push_back(ahead.number());
    for (std::uint32_t left = steps; left > 0;) {
        const std::uint32_t times = std::min(left, walk.in_a_row());
        const Step& step = walk.step();
        for (std::size_t i = 0; i < step.sends.size(); ++i) {
            const Message& message = step.sends[i];
            if (!turns(message)) {
                const std::uint64_t bytes = bytes_of_repetitions(partition, message, walk.repetition(), times);
                Peer& peer = *ports_[walk.number()].out[i];
                add_bytes(peer, bytes,
                          on_wires_in_repetitions(factor(peer), partition, message, walk.repetition(), times));
                continue;
            }
            const std::uint32_t end = walk.repetition() + (counts() ? times : 0);
            for (std::uint32_t repetition = walk.repetition(); repetition < end; ++repetition) {
                const auto members = static_cast<std::uint32_t>(now_->group.size());
                const std::uint64_t bytes = message_bytes(partition, message, repetition);
                const ProcessId other = now_->group[peer_of(message, repetition, members)];
                const double factor = session_.wires.factor(now_->exchange.protocol, process_, other);
                session_.carried({now_->channel, process_, other}, bytes, on_wires(bytes, factor));
            }
        }
        session_.folded(iteration_, std::uint64_t{times} * step.sends.size());
        walk.skip(times);
        left -= times;
    }
    std::size_t kept = 0;
    Walk& ahead = now_->posted;
    for (ahead = walk; kept < posted.size() && !ahead.done(); ahead.next()) {
        const std::vector<Message>& receives = ahead.step().receives;
        if (receives.empty()) continue;
        if (std::any_of(receives.begin(), receives.end(), turns) ||
            ports_[ahead.number()].in != ports_[posted[kept]].in)
            break;
        ++kept;
    }
    now_->ahead = ahead != walk;
    for (; posted.size() > kept; posted.pop_back()) withdraw(now_->program.steps[posted.back()], ports_[posted.back()]);
}

void LaneReplay::withdraw(const Step& step, const Ports& ports) {
    for (std::size_t i = step.receives.size(); i-- > 0;) {
        if (!turns(step.receives[i])) {
            simulator_.withdraw(lane_, ports.in[i]->connection);
            continue;
        }
        simulator_.withdraw(lane_, turning_in_.back().connection);
        simulator_.release(turning_in_.back().connection);
        turning_in_.pop_back();
    }
}

void LaneReplay::add_bytes(Peer& peer, std::uint64_t bytes, std::uint64_t on_wires) const {
    if (!counts()) return;
    peer.bytes += bytes;
    peer.on_wires += on_wires;
}

void LaneReplay::post() {
    for (Walk& posted = now_->posted; !posted.done();) {
        const std::vector<Message>& receives = posted.step().receives;
        for (std::size_t i = 0; i < receives.size(); ++i) {
            if (!turns(receives[i])) {
                receive(*ports_[posted.number()].in[i]);
                continue;
            }
            turning_in_.push_back(turned(receives[i], posted.repetition(), false));
            receive(turning_in_.back());
        }
        posted.next();
        now_->ahead = true;
        if (!travels_ || !receives.empty()) return;
    }
}

LaneReplay::Rest LaneReplay::at_speed(Rest rest) const {
    const double start_s = simulator_.now_s() + rest.latency_s;
    rest.receive_s = session_.speeds.elapsed_s(process_, start_s, rest.receive_s);
    rest.reduction_s = session_.speeds.elapsed_s(process_, start_s + rest.receive_s, rest.reduction_s);
    return rest;
}

std::uint64_t LaneReplay::bytes_of(const Message& message) const {
    const Partition& partition = now_->program.partition;
    return padded_ ? largest_bytes(partition, message) : message_bytes(partition, message, now_->walk.repetition());
}

Coroutine<> LaneReplay::run_steps(std::uint32_t count, RingFolding::Visit visit) {
    const Exchange& exchange = now_->exchange;
    const Partition& partition = now_->program.partition;
    Walk& walk = now_->walk;
    const bool stages = transport_.staging.unit == Staging::Unit::message;
    for (std::uint32_t taken = 0; taken < count && !walk.done();) {
        const Step& step = walk.step();
        Ports& ports = ports_[walk.number()];
        if (step.after_lane != Step::no_lane) co_await await_lane(step);
        if (const double down_s = session_.speeds.down_s(process_, simulator_.now_s()); down_s > 0)
            co_await simulator_.sleep(lane_, down_s);
        simulator_.begin_step(lane_, static_cast<std::uint32_t>(ports.in.size()));
        recorded_.clear();
        travelling_.clear();
        // Receives are posted first, because data may arrive while this stream is busy sending.
        if (!now_->ahead) post();
        if (ports.turn) turn(ports);
        for (std::size_t i = 0; i < ports.out.size(); ++i) {
            Peer& peer = *ports.out[i];
            const std::uint64_t bytes = bytes_of(step.sends[i]);
            if (transport_.window > 0) co_await await_window();
            if (transport_.driver_query_s > 0) co_await spend(ActKind::send, transport_.driver_query_s);
            if (stages) co_await copy(Staging::Unit::message, true, bytes);
            if (peer.terms->send_overhead_s > 0) co_await spend(ActKind::send, peer.terms->send_overhead_s);
            send(peer, bytes);
            const std::uint64_t real = padded_ ? message_bytes(partition, step.sends[i], walk.repetition()) : bytes;
            add_bytes(peer, real, on_wires(real, factor(peer)));
        }
        wait_start_s_ = simulator_.now_s();
        co_await simulator_.ends(lane_);
        if (session_.wires.adapts()) note_paths(ports);
        session_.sent(iteration_, ports.out.size());

        Rest rest{rest_of_latency(ports)};
        std::uint64_t reduced = step.adds * partition.largest();
        for (std::size_t i = 0; i < ports.in.size(); ++i) {
            rest.receive_s += ports.in[i]->terms->receive_overhead_s + transport_.driver_query_s;
            if (stages) {
                co_await spend(at_speed(std::exchange(rest, {})));
                co_await copy(Staging::Unit::message, false, bytes_of(step.receives[i]));
            }
            if (step.reduce) reduced += bytes_of(step.receives[i]);
        }
        rest.reduction_s = static_cast<double>(reduced) * exchange.gamma_s_per_B * exchange.algorithm->slices();
        if (reduced > 0 && session_.wires.on_device(process_)) rest.reduction_s += transport_.reduction.launch_s;
        rest = at_speed(rest);
        if (recorder() != nullptr) {
            co_await spend(rest);
            recorded_in_.erase(recorded_in_.begin(),
                               recorded_in_.begin() + static_cast<std::ptrdiff_t>(ports.in.size()));
        } else {
            co_await simulator_.sleep(lane_, rest.seconds());
        }
        if (ports.turn) turn_away(ports);
        walk.next();
        now_->ahead = walk != now_->posted;
        ++taken;
        ++steps_done_;
        for (const LaneId lane : std::exchange(follow_, {})) simulator_.unpark(lane);
        if (visit.ring == nullptr) continue;
        const RingFolding::Skip folded = session_.folding()->stepped(visit, taken, simulator_.untaken(lane_));
        skip(folded.steps);
        taken += folded.steps;
        co_await simulator_.sleep(lane_, folded.seconds);
    }
}

Coroutine<> LaneReplay::await_lane(const Step& step) {
    LaneReplay& other = *siblings_[step.after_lane];
    while (other.steps_done_ < step.after_steps) {
        other.follow_.push_back(lane_);
        co_await simulator_.park(lane_);
    }
}

double LaneReplay::latency_s(const Peer& peer) const {
    const Protocol& protocol = now_->exchange.protocol;
    if (!protocol.replaces_transport()) return peer.latency_s;
    return peer.latency_s - peer.terms->latency_s + protocol.latency_s(peer.inside_node);
}

double LaneReplay::factor(const Peer& peer) const {
    return now_->exchange.protocol.factor(peer.inside_node) * peer.payload;
}

Meeting LaneReplay::meeting(const Peer& peer, std::uint64_t bytes) const {
    if (now_->exchange.buffered) return {.awaits_receiver = false};
    if (!peer.terms->eager_bytes) return {};
    const bool eager = static_cast<double>(bytes) <= *peer.terms->eager_bytes;
    return {.awaits_receiver = !eager, .handshake_s = eager ? 0 : latency_s(peer)};
}

void LaneReplay::send(const Peer& peer, std::uint64_t bytes) {
    const std::uint64_t travelling = on_wires(bytes, factor(peer));
    const Meeting how = meeting(peer, bytes);
    if (recorder() != nullptr)
        recorded_.push_back(
            recorder()->put(*peer.recorded, {task_, lane_, iteration_, simulator_.now_s()}, travelling, how));
    if (session_.wires.adapts()) travelling_.push_back(travelling);
    const double limit_Bps = peer.terms->bandwidth.empty() ? std::numeric_limits<double>::infinity()
                                                           : peer.terms->limit_Bps(static_cast<double>(bytes));
    simulator_.send(lane_, peer.connection, peer.weightless ? 0 : travelling, limit_Bps, how);
}

void LaneReplay::receive(const Peer& peer) {
    if (recorder() != nullptr)
        recorded_in_.push_back(recorder()->got(*peer.recorded, {task_, lane_, iteration_, simulator_.now_s()}));
    simulator_.receive(lane_, peer.connection);
}

void LaneReplay::note_paths(const Ports& ports) {
    for (std::size_t i = 0; i < ports.out.size(); ++i) {
        const std::span<const std::uint32_t> path = simulator_.path(lane_, i);
        const Pair& pair = ports.out[i]->pair;
        if (session_.measures(iteration_)) {
            std::uint64_t bytes = travelling_[i];
            for (const Simulator::Earlier& part : simulator_.earlier(lane_)) {
                if (part.index != i) continue;
                session_.wires.carried(pair.from, pair.to, part.links, part.bytes);
                bytes -= part.bytes;
            }
            session_.wires.carried(pair.from, pair.to, path, bytes);
        }
        if (recorder() != nullptr) recorder()->took(recorded_[i], {path.begin(), path.end()});
    }
}

Coroutine<> LaneReplay::await_window() {
    const double start_s = simulator_.now_s();
    co_await simulator_.window(lane_, static_cast<std::uint32_t>(transport_.window));
    if (recorder() == nullptr || simulator_.now_s() == start_s) co_return;
    double last_s = -1;
    for (std::size_t i = 0; i < recorded_.size(); ++i) {
        const double end_s = simulator_.sent_s(lane_, i);
        if (end_s > simulator_.now_s() || end_s <= last_s) continue;
        last_s = end_s;
        last_ = recorded_[i];
    }
    record(ActKind::window, start_s, simulator_.now_s());
}

Coroutine<> LaneReplay::copy(Staging::Unit unit, bool outwards, std::uint64_t bytes) {
    const double seconds = transport_.staging.unit == unit ? session_.wires.staging_s(process_, bytes) : 0;
    if (seconds == 0) co_return;
    const double start_s = simulator_.now_s();
    co_await session_.copy(lane_, outwards, seconds);
    record(ActKind::copy, start_s, simulator_.now_s());
}

double LaneReplay::rest_of_latency(const Ports& ports) {
    const double now_s = simulator_.now_s();
    double rest_s = 0, last_s = -1;
    const auto consider = [&](Peer& peer, double end_s, const std::vector<MessageId>& recorded, std::size_t i,
                              bool waits) {
        const double latency_s = this->latency_s(peer) * lateness_.factor(peer.pair.channel, peer.pair.from - first_,
                                                                          peer.pair.to - first_, peer.delivered++);
        // A message delivered before the others has already had a part of its latency.
        const double free_s = waits ? end_s + latency_s : end_s;
        rest_s = std::max(rest_s, free_s - now_s);
        if (recorder() == nullptr) return;
        recorder()->through(recorded[i], end_s, latency_s);
        if (free_s > last_s) {
            last_s = free_s;
            last_ = recorded[i];
        }
    };
    for (std::size_t i = 0; i < ports.in.size(); ++i)
        consider(*ports.in[i], simulator_.received_s(lane_, i), recorded_in_, i, true);
    for (std::size_t i = 0; i < ports.out.size(); ++i)
        consider(*ports.out[i], simulator_.sent_s(lane_, i), recorded_, i, !travels_);
    return rest_s;
}

LaneReplay::Peer& LaneReplay::peer(ProcessId other, bool outwards) {
    const std::uint64_t key = (std::uint64_t{now_->channel} << 33) | (std::uint64_t{other} << 1) | (outwards ? 1 : 0);
    const auto [found, added] = peers_.try_emplace(key);
    if (added) found->second = connect(other, outwards, true);
    return found->second;
}

LaneReplay::Peer LaneReplay::connect(ProcessId other, bool outwards, bool lasting) {
    Peer made;
    made.pair = outwards ? Pair{now_->channel, process_, other} : Pair{now_->channel, other, process_};
    const ProcessId from = made.pair.from, to = made.pair.to;
    const Pair simulated = session_.canonical(made.pair);
    session_.wires.require_routes(from, to);
    made.connection = simulator_.connect(simulated, lasting);
    made.terms = &session_.wires.terms(from, to);
    made.latency_s = session_.wires.latency_s(simulated.from, simulated.to, simulated.channel);
    made.recorded = session_.connection(now_->channel, from, to);
    made.inside_node = session_.wires.inside_node(from, to);
    made.payload = made.terms->payload;
    made.weightless = session_.wires.weightless(from, to);
    return made;
}

LaneReplay::Peer LaneReplay::turned(const Message& message, std::uint32_t repetition, bool outwards) {
    const auto members = static_cast<std::uint32_t>(now_->group.size());
    Peer made = connect(now_->group[peer_of(message, repetition, members)], outwards, false);
    // Such a connection has one message, so its number must differ from those of others between the two processes.
    made.delivered = random_bits(session_.graph.tasks()[task_].exchange, iteration_, repetition);
    return made;
}

void LaneReplay::turn(Ports& ports) {
    const Step& step = now_->walk.step();
    auto received = turning_in_.begin();
    for (std::size_t i = 0; i < step.receives.size(); ++i)
        if (turns(step.receives[i])) ports.in[i] = &*received++;
    for (std::size_t i = 0; i < step.sends.size(); ++i)
        if (turns(step.sends[i]))
            ports.out[i] = &turning_out_.emplace_back(turned(step.sends[i], now_->walk.repetition(), true));
}

void LaneReplay::turn_away(const Ports& ports) {
    const Step& step = now_->walk.step();
    for (std::size_t i = 0; i < step.receives.size(); ++i) {
        if (!turns(step.receives[i])) continue;
        simulator_.release(ports.in[i]->connection);
        turning_in_.pop_front();
    }
    for (const Peer& peer : turning_out_) {
        report_bytes(peer);
        simulator_.release(peer.connection);
    }
    turning_out_.clear();
}

std::pair<std::uint32_t, std::uint32_t> LaneReplay::at() const {
    return now_ ? std::pair{now_->walk.number(), now_->walk.repetition()} : std::pair{0u, 0u};
}

void LaneReplay::report_bytes() {
    for (const auto& [key, peer] : peers_) report_bytes(peer);
}

void LaneReplay::disconnect() {
    for (const auto& [key, peer] : peers_) simulator_.release(peer.connection);
}

void LaneReplay::report_bytes(const Peer& peer) {
    if (peer.bytes > 0) session_.carried(peer.pair, peer.bytes, peer.on_wires);
}

}  // namespace syncline

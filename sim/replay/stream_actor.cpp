#include "sim/replay/stream_actor.hpp"

#include <fmt/format.h>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace syncline {

namespace sg = simgrid::s4u;

namespace {

/// Returns the bytes on the wires.
std::uint64_t on_wires(std::uint64_t bytes, const Protocol& protocol) {
    if (protocol.bandwidth_factor == 1) return bytes;
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) / protocol.bandwidth_factor));
}

}  // namespace

void StreamActor::run() {
    const TaskGraph& graph = session_.graph;
    const auto tasks = static_cast<std::uint32_t>(graph.tasks_of(stream_).size());
    for (iteration_ = 0; iteration_ < session_.iterations; ++iteration_) {
        recorder_ = session_.recorder(iteration_);
        for (std::uint32_t position = 0; position < tasks; ++position) {
            const TaskId id = session_.next(stream_, iteration_, position);
            for (const Dependency& dependency : graph.dependencies_of(id)) {
                if (!dependency.previous_iteration)
                    session_.await(stream_, dependency.on, iteration_);
                else if (iteration_ > 0)
                    session_.await(stream_, dependency.on, iteration_ - 1);
            }
            const Task& task = graph.tasks()[id];
            session_.started(id, iteration_, sg::Engine::get_clock());
            if (task.exchange != Task::no_exchange) {
                // A stream that waits for another stage does not slow the computation.
                const bool busy = graph.streams()[stream_].kind != StreamKind::receive;
                if (busy) session_.exchange_begins(process_);
                run_exchange(id, task);
                if (busy) session_.exchange_ends(process_);
            } else if (task.seconds > 0 && graph.streams()[stream_].kind == StreamKind::compute) {
                session_.compute(process_, iteration_, task.seconds);
            } else if (task.tick_s > 0) {
                session_.await_tick(process_, iteration_, task.tick_s);
            } else if (task.seconds > 0) {
                sg::this_actor::sleep_for(task.seconds);
            }
            session_.ended(id, iteration_, sg::Engine::get_clock());
        }
    }
}

void StreamActor::record(ActKind kind, double start_s, double end_s) {
    if (recorder() == nullptr) return;
    const bool waits = kind == ActKind::messages || kind == ActKind::window;
    recorder()->acted(stream_, {start_s, end_s, task_, iteration_, waits ? last_ : Act::no_message, kind});
}

void StreamActor::spend(ActKind kind, double seconds) {
    if (seconds <= 0) return;
    if (recorder() == nullptr) return sg::this_actor::sleep_for(seconds);
    const double start_s = sg::Engine::get_clock();
    sg::this_actor::sleep_for(seconds);
    record(kind, start_s, sg::Engine::get_clock());
}

void StreamActor::spend(const Rest& rest) {
    const double seconds = rest.latency_s + rest.receive_s + rest.reduction_s;
    const double start_s = recorder() == nullptr ? 0 : sg::Engine::get_clock();
    if (seconds > 0) sg::this_actor::sleep_for(seconds);
    if (recorder() == nullptr) return;
    // A single sleep, so that recording changes no sum; the last act ends when the sleep did.
    const double end_s = sg::Engine::get_clock();
    const double latency_end_s = rest.receive_s + rest.reduction_s > 0 ? start_s + rest.latency_s : end_s;
    const double receive_end_s = rest.reduction_s > 0 ? latency_end_s + rest.receive_s : end_s;
    record(ActKind::messages, std::exchange(wait_start_s_, MessageRecord::never), latency_end_s);  // once per step
    record(ActKind::receive, latency_end_s, receive_end_s);
    record(ActKind::reduction, receive_end_s, end_s);
}

void StreamActor::run_exchange(TaskId id, const Task& task) {
    task_ = id;
    const Exchange& exchange = session_.graph.exchange(task.exchange);
    const std::span<const ProcessId> group = session_.graph.group(exchange.group);
    const auto members = static_cast<std::uint32_t>(group.size());
    const Program program = exchange.algorithm->program(task.member, members, exchange.bytes, iteration_);
    ports_.resize(std::max(ports_.size(), program.steps.size()));
    turning_.clear();
    const auto port = [&](const Message& message, bool outwards) {
        return message.turn == 0 ? &peer(exchange, group[message.peer], outwards) : &turning_.emplace_back();
    };
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        ports_[i].out.clear();
        ports_[i].in.clear();
        for (const Message& message : program.steps[i].sends) ports_[i].out.push_back(port(message, true));
        for (const Message& message : program.steps[i].receives) ports_[i].in.push_back(port(message, false));
    }
    if (program.steps.empty()) return;
    if (session_.wires.hosts_by_channel()) sg::this_actor::set_host(session_.wires.host(process_, exchange.channel));
    // A member contributes if its first step sends or reduces; a later step may only pass on received data.
    const Step& first = program.steps.front();
    const bool contributes = !first.sends.empty() || first.reduce;
    const bool receives = std::any_of(program.steps.begin(), program.steps.end(),
                                      [](const Step& step) { return !step.receives.empty(); });
    spend(ActKind::launch, transport_.launch_s + exchange.protocol.launch_s);
    if (contributes) copy(Staging::Unit::collective, true, exchange.bytes);
    Walk walk(program);
    if (Folding* folding = session_.folding()) {
        const Folding::Pass pass = folding->begin(task.exchange, task.member, iteration_);
        for (const RingSection& section : *pass.sections)
            run_section(*folding, section, pass, group, walk, program.partition);
    } else {
        for (; !walk.done(); walk.next()) run_step(walk, program.partition, exchange, group);
    }
    for (const Peer& peer : turning_) report_bytes(peer);
    if (receives) copy(Staging::Unit::collective, false, exchange.bytes);
}

void StreamActor::run_section(Folding& folding, const RingSection& section, const Folding::Pass& pass,
                              std::span<const ProcessId> group, Walk& walk, const Partition& partition) {
    const Exchange& exchange = session_.graph.exchange(pass.exchange);
    const Folding::Visit visit = folding.enter(stream_, pass, section);
    padded_ = visit.padded;
    for (std::uint32_t steps = 0; steps < section.taken;) {
        run_step(walk, partition, exchange, group);
        walk.next();
        ++steps;
        if (visit.ring == nullptr) continue;
        const std::uint32_t folded = folding.stepped(visit, steps);
        skip(walk, folded, partition, exchange, group);
        steps += folded;
    }
    padded_ = false;
    folding.leave(visit);
}

void StreamActor::skip(Walk& walk, std::uint32_t steps, const Partition& partition, const Exchange& exchange,
                       std::span<const ProcessId> group) {
    const Protocol& protocol = exchange.protocol;
    while (steps > 0) {
        const std::uint32_t times = std::min(steps, walk.in_a_row());
        const Step& step = walk.step();
        for (std::size_t i = 0; i < step.sends.size(); ++i) {
            const Message& message = step.sends[i];
            if (message.turn == 0) {
                const std::uint64_t bytes = bytes_of_repetitions(partition, message, walk.repetition(), times);
                count(*ports_[walk.number()].out[i], bytes, on_wires(bytes, protocol));
                continue;
            }
            const std::uint32_t end = walk.repetition() + (session_.measures(iteration_) ? times : 0);
            for (std::uint32_t repetition = walk.repetition(); repetition < end; ++repetition) {
                const auto members = static_cast<std::uint32_t>(group.size());
                const std::uint64_t bytes = message_bytes(partition, message, repetition);
                session_.carried({exchange.channel, process_, group[peer_of(message, repetition, members)]}, bytes,
                                 on_wires(bytes, protocol));
            }
        }
        session_.folded(iteration_, std::uint64_t{times} * step.sends.size());
        walk.skip(times);
        steps -= times;
    }
}

void StreamActor::count(Peer& peer, std::uint64_t bytes, std::uint64_t on_wires) const {
    if (!session_.measures(iteration_)) return;
    peer.bytes += bytes;
    peer.on_wires += on_wires;
}

void StreamActor::run_step(const Walk& walk, const Partition& partition, const Exchange& exchange,
                           std::span<const ProcessId> group) {
    const Step& step = walk.step();
    const Ports& ports = ports_[walk.number()];
    if (!turning_.empty()) turn(walk, ports, exchange, group);
    session_.at_step(stream_, walk.number(), walk.repetition());
    const auto bytes_of = [&](const Message& message) {
        return padded_ ? largest_bytes(partition, message) : message_bytes(partition, message, walk.repetition());
    };
    pending_.clear();
    if (recorder() != nullptr) recorded_.clear();
    // Receives are posted first, because data may arrive while this stream is busy sending.
    for (Peer* peer : ports.in) pending_.push_back(get(*peer));
    for (std::size_t i = 0; i < ports.out.size(); ++i) {
        Peer& peer = *ports.out[i];
        const std::uint64_t bytes = bytes_of(step.sends[i]);
        if (transport_.window > 0) await_window();
        spend(ActKind::send, transport_.query_s());
        copy(Staging::Unit::message, true, bytes);
        spend(ActKind::send, peer.terms->send_overhead_s);
        pending_.push_back(put(peer, bytes, exchange.protocol));
        const std::uint64_t real = padded_ ? message_bytes(partition, step.sends[i], walk.repetition()) : bytes;
        count(peer, real, on_wires(real, exchange.protocol));
        if (transport_.window > 0) window_.push_back(pending_.back());
    }
    if (recorder() != nullptr) wait_start_s_ = sg::Engine::get_clock();
    if (session_.wires.adapts()) await_each();
    for (const sg::CommPtr& comm : pending_) comm->wait();
    window_.clear();
    session_.sent(iteration_, ports.out.size());

    Rest rest{rest_of_latency(ports, exchange.protocol)};
    std::uint64_t reduced = 0;
    for (std::size_t i = 0; i < ports.in.size(); ++i) {
        const std::uint64_t bytes = bytes_of(step.receives[i]);
        rest.receive_s += ports.in[i]->terms->receive_overhead_s + transport_.query_s();
        if (transport_.staging.unit == Staging::Unit::message) {
            spend(std::exchange(rest, {}));
            copy(Staging::Unit::message, false, bytes);
        }
        if (step.reduce) reduced += bytes;
    }
    rest.reduction_s = static_cast<double>(reduced) * exchange.gamma_s_per_B;
    if (reduced > 0 && session_.wires.on_device(process_)) rest.reduction_s += transport_.reduction.launch_s;
    spend(rest);
}

sg::CommPtr StreamActor::put(Peer& peer, std::uint64_t bytes, const Protocol& protocol) {
    static char token;  // messages carry no data, but SimGrid requires an address
    const std::uint64_t travelling = on_wires(bytes, protocol);
    if (recorder() != nullptr)
        recorded_.push_back(
            recorder()->put(*peer.connection, {task_, iteration_, sg::Engine::get_clock()}, travelling));
    sg::CommPtr comm = mailbox(peer, MailboxPool::Side::put)->put_init(&token, peer.weightless ? 0 : travelling);
    if (!peer.weightless && !peer.terms->bandwidth.empty())
        comm->set_rate(peer.terms->limit_Bps(static_cast<double>(bytes)));
    if (session_.wires.adapts()) {
        const std::uint64_t number = session_.wires.put(peer.pair.from, peer.pair.to, peer.pair.channel);
        in_flight_.push_back({comm, peer.pair, number, travelling, recorder() != nullptr ? recorded_.back() : 0});
    }
    comm->start();
    return comm;
}

void StreamActor::through(const sg::CommPtr& comm) {
    const auto found = std::find_if(in_flight_.begin(), in_flight_.end(),
                                    [&](const InFlight& message) { return message.comm == comm; });
    if (found == in_flight_.end()) return;
    const MailboxPool::Pair& pair = found->pair;
    const std::vector<std::uint32_t> links = session_.wires.through(pair.from, pair.to, pair.channel, found->number);
    if (session_.measures(iteration_)) session_.wires.carried(pair.from, pair.to, links, found->bytes);
    if (recorder() != nullptr) recorder()->took(found->recorded, links);
    in_flight_.erase(found);
}

void StreamActor::await_each() {
    std::vector<sg::CommPtr> left = pending_;
    while (!in_flight_.empty()) {
        const auto first = left.begin() + sg::Comm::wait_any(left);
        through(*first);
        left.erase(first);
    }
}

sg::CommPtr StreamActor::get(Peer& peer) {
    static void* received = nullptr;
    if (recorder() != nullptr)
        recorded_.push_back(recorder()->got(*peer.connection, {task_, iteration_, sg::Engine::get_clock()}));
    return mailbox(peer, MailboxPool::Side::get)->get_async<void>(&received);
}

void StreamActor::await_window() {
    while (window_.size() >= static_cast<std::size_t>(transport_.window)) {
        const double start_s = sg::Engine::get_clock();
        const auto first = static_cast<std::size_t>(sg::Comm::wait_any(window_));
        if (recorder() != nullptr) {
            const auto sent = std::find(pending_.begin(), pending_.end(), window_[first]);
            last_ = recorded_[static_cast<std::size_t>(sent - pending_.begin())];
            record(ActKind::window, start_s, sg::Engine::get_clock());
        }
        through(window_[first]);
        window_.erase(window_.begin() + static_cast<std::ptrdiff_t>(first));
    }
}

void StreamActor::copy(Staging::Unit unit, bool outwards, std::uint64_t bytes) {
    if (transport_.staging.unit == unit)
        spend(ActKind::copy, session_.copy_s(process_, outwards, session_.wires.staging_s(process_, bytes)));
}

double StreamActor::rest_of_latency(const Ports& ports, const Protocol& protocol) {
    const double now_s = sg::Engine::get_clock();
    double rest_s = 0, last_s = -1;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        const Peer& peer = *(i < ports.in.size() ? ports.in[i] : ports.out[i - ports.in.size()]);
        const double latency_s =
            peer.latency_s + (peer.inside_node ? protocol.inside_latency_s : protocol.between_latency_s);
        // A message delivered before the others has already had a part of its latency.
        if (latency_s > rest_s) rest_s = std::max(rest_s, pending_[i]->get_finish_time() + latency_s - now_s);
        if (recorder() == nullptr) continue;
        const double through_s = pending_[i]->get_finish_time();
        recorder()->through(recorded_[i], through_s, latency_s);
        if (through_s + latency_s > last_s) {
            last_s = through_s + latency_s;
            last_ = recorded_[i];
        }
    }
    return rest_s;
}

StreamActor::Peer& StreamActor::peer(const Exchange& exchange, ProcessId other, bool outwards) {
    const std::uint64_t key =
        (std::uint64_t{exchange.channel} << 33) | (std::uint64_t{other} << 1) | (outwards ? 1 : 0);
    Peer& found = peers_[key];
    if (found.mailbox == nullptr) {
        found = passing_peer(exchange, other, outwards);
        found.mailbox =
            sg::Mailbox::by_name(fmt::format("{}:{}:{}", found.pair.channel, found.pair.from, found.pair.to));
    }
    return found;
}

StreamActor::Peer StreamActor::passing_peer(const Exchange& exchange, ProcessId other, bool outwards) {
    const ProcessId from = outwards ? process_ : other, to = outwards ? other : process_;
    Peer made;
    made.terms = &session_.wires.terms(from, to);
    made.latency_s = session_.wires.latency_s(from, to);
    made.connection = session_.connection(exchange.channel, from, to);
    made.pair = {exchange.channel, from, to};
    made.inside_node = session_.wires.inside_node(from, to);
    made.weightless = session_.wires.weightless(from, to);
    return made;
}

void StreamActor::turn(const Walk& walk, const Ports& ports, const Exchange& exchange,
                       std::span<const ProcessId> group) {
    const auto turn_all = [&](const std::vector<Message>& messages, const std::vector<Peer*>& peers, bool outwards) {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (messages[i].turn == 0) continue;
            report_bytes(*peers[i]);
            const std::uint32_t other =
                peer_of(messages[i], walk.repetition(), static_cast<std::uint32_t>(group.size()));
            *peers[i] = passing_peer(exchange, group[other], outwards);
        }
    };
    turn_all(walk.step().receives, ports.in, false);
    turn_all(walk.step().sends, ports.out, true);
}

void StreamActor::report_bytes() {
    for (const auto& [key, peer] : peers_) report_bytes(peer);
}

void StreamActor::report_bytes(const Peer& peer) {
    if (peer.bytes > 0) session_.carried(peer.pair, peer.bytes, peer.on_wires);
}

}  // namespace syncline

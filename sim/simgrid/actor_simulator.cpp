#include "sim/simgrid/actor_simulator.hpp"

#include <fmt/format.h>
#include <simgrid/Exception.hpp>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "sim/base/replay_error.hpp"

namespace syncline {

namespace sg = simgrid::s4u;

namespace {

/// Ends the simulation with an error of the calling actor. Only what a timer throws leaves the engine.
void fail(const std::string& message) {
    simgrid::kernel::timer::Timer::set(sg::Engine::get_clock(), [message] { throw ReplayError(message); });
    sg::this_actor::suspend();
}

}  // namespace

ActorSimulator::ActorSimulator(Hosts& hosts, std::vector<ProcessId> processes)
    : hosts_(hosts), processes_(std::move(processes)), streams_(processes_.size()) {}

void ActorSimulator::run(std::vector<Coroutine<>>& programs, const std::function<void()>& stuck) {
    // Stacks of 64 KiB suffice for thousands of actors, none of them deep. Guard pages would make each stack a mapping
    // of its own, and a process may have only 65530.
    sg::Engine::set_config("contexts/stack-size:64");
    sg::Engine::set_config("contexts/guard-size:0");
    for (std::size_t lane = 0; lane < programs.size(); ++lane) {
        sg::Host* host = hosts_.of(processes_[lane], 0);
        sg::Actor::create("lane", host, [&program = programs[lane]] {
            try {
                program.resume();
                program.result();  // throws what the program has thrown
            } catch (const simgrid::Exception&) {
                fail(fmt::format("a message failed after {:g} s, when a link or a host was switched off",
                                 sg::Engine::get_clock()));
            } catch (const ReplayError& error) {
                fail(error.what());
            }
        });
    }
    sg::Engine::on_deadlock_cb(stuck);
    sg::Engine::get_instance()->run();
}

double ActorSimulator::now_s() const {
    return sg::Engine::get_clock();
}

void ActorSimulator::at_end_of_instant(std::function<void()> act) {
    simgrid::kernel::timer::Timer::set(sg::Engine::get_clock(), std::move(act));
}

ConnectionId ActorSimulator::connect(const Pair& pair, bool lasting) {
    // Must come first: other actors may run while SimGrid creates a mailbox.
    sg::Mailbox* mailbox =
        lasting ? sg::Mailbox::by_name(fmt::format("{}:{}:{}", pair.channel, pair.from, pair.to)) : nullptr;
    if (free_connections_.empty()) {
        free_connections_.push_back(static_cast<ConnectionId>(connections_.size()));
        connections_.emplace_back();
    }
    const ConnectionId number = free_connections_.back();
    free_connections_.pop_back();
    connections_[number] = {pair, mailbox};
    return number;
}

void ActorSimulator::release(ConnectionId connection) {
    free_connections_.push_back(connection);
}

sg::Mailbox* ActorSimulator::mailbox(ConnectionId connection, bool sends) {
    if (sg::Mailbox* own = connections_[connection].mailbox) return own;
    const Pair pair = connections_[connection].pair;
    // Must precede the look-ups: other actors may run while SimGrid creates a mailbox.
    if (free_mailboxes_.empty()) free_mailboxes_.push_back(sg::Mailbox::by_name(fmt::format("pool:{}", pooled_++)));
    const auto [found, first] = waiting_.try_emplace(pair);
    Waiting& waiting = found->second;
    if (first) {
        waiting = {free_mailboxes_.back(), 0, sends};
        free_mailboxes_.pop_back();
    }
    sg::Mailbox* const mailbox = waiting.mailbox;
    if (waiting.sends == sends) {
        ++waiting.messages;
    } else if (--waiting.messages == 0) {
        free_mailboxes_.push_back(mailbox);
        waiting_.erase(found);
    }
    return mailbox;
}

void ActorSimulator::begin_step(StreamId stream, std::uint32_t) {
    streams_[stream].sent.clear();
    streams_[stream].received.clear();
    streams_[stream].in_flight.clear();
}

void ActorSimulator::withdraw(StreamId, ConnectionId) {
    throw std::logic_error("receives are posted in the step that takes them");
}

void ActorSimulator::on_receipt(StreamId, std::function<void()>) {
    throw std::logic_error("receives are posted in the step that takes them");
}

void ActorSimulator::receive(StreamId stream, ConnectionId connection) {
    static void* received = nullptr;
    hosts_.move(connections_[connection].pair.to, connections_[connection].pair.channel);
    streams_[stream].received.push_back(mailbox(connection, false)->get_async<void>(&received));
}

void ActorSimulator::send(StreamId stream, ConnectionId connection, std::uint64_t bytes, double limit_Bps,
                          const Meeting&) {
    static char token;  // messages carry no data, but SimGrid requires an address
    hosts_.move(connections_[connection].pair.from, connections_[connection].pair.channel);
    sg::CommPtr comm = mailbox(connection, true)->put_init(&token, bytes);
    if (limit_Bps < std::numeric_limits<double>::infinity()) comm->set_rate(limit_Bps);
    comm->start();
    streams_[stream].sent.push_back(comm);
    streams_[stream].in_flight.push_back(comm);
}

double ActorSimulator::end_s(const sg::CommPtr& comm) {
    return comm->get_state() == sg::Activity::State::FINISHED ? comm->get_finish_time()
                                                              : std::numeric_limits<double>::infinity();
}

bool ActorSimulator::begin_sleep(StreamId, double seconds, std::coroutine_handle<>) {
    if (seconds > 0) sg::this_actor::sleep_for(seconds);
    return false;
}

bool ActorSimulator::begin_park(StreamId stream, std::coroutine_handle<> caller) {
    return begin_park(stream, -1, caller);  // SimGrid: without end
}

bool ActorSimulator::begin_park(StreamId stream, double seconds, std::coroutine_handle<>) {
    if (!streams_[stream].awake) streams_[stream].awake = sg::Semaphore::create(0);
    const sg::SemaphorePtr& awake = streams_[stream].awake;
    streams_[stream].parked = true;
    const bool too_late = awake->acquire_timeout(seconds);
    // It may have been unparked at the very instant at which the time was over.
    if (too_late && !std::exchange(streams_[stream].parked, false)) awake->acquire();
    return false;
}

void ActorSimulator::unpark(StreamId stream) {
    if (std::exchange(streams_[stream].parked, false)) streams_[stream].awake->release();
}

bool ActorSimulator::begin_yield(StreamId, std::coroutine_handle<>) {
    sg::this_actor::yield();
    return false;
}

bool ActorSimulator::begin_wait(StreamId stream, std::uint32_t window, std::coroutine_handle<>) {
    StreamState& state = streams_[stream];
    if (window == 0) {
        for (const sg::CommPtr& comm : state.received) comm->wait();
        for (const sg::CommPtr& comm : state.sent) comm->wait();
        return false;
    }
    while (state.in_flight.size() >= window)
        state.in_flight.erase(state.in_flight.begin() + sg::Comm::wait_any(state.in_flight));
    return false;
}

}  // namespace syncline

#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/replay/coroutine.hpp"
#include "sim/replay/meeting.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Simulated time, in which the programs of streams run and messages travel.
///
/// There are two: event_simulator() shares links by our own solver (sim/network) and resumes the streams from SimGrid's
/// clock; SimGridEngine::actors() leaves messages to SimGrid, and gives each stream an actor. Programs are coroutines,
/// so that the same code runs on both: where an operation blocks the actor, it is over when it returns.
///
/// A message starts when both its sides are present, unless it meets otherwise (Meeting), and ends when its last byte
/// has left its links. Latency and all other costs are time in which streams sleep. A stream sends and receives in
/// steps: it begins one, posts messages, waits, and then reads their ends. Receives may be posted before the step that
/// takes them begins.
namespace syncline {

class Wires;

/// One direction between two processes, of one channel. Messages of a pair are matched in order: the n-th one sent is
/// the n-th one received.
struct Pair {
    std::uint32_t channel = 0;
    ProcessId from = 0, to = 0;
    bool operator==(const Pair&) const = default;

    struct Hash {
        std::size_t operator()(const Pair& pair) const {
            std::uint64_t mixed = (std::uint64_t{pair.from} << 32 | pair.to) + pair.channel * 0x9e3779b97f4a7c15ULL;
            mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93ULL;
            return mixed ^ (mixed >> 32);
        }
    };
};

using ConnectionId = std::uint32_t;

class Simulator {
public:
    Simulator() = default;
    virtual ~Simulator() = default;
    Simulator(const Simulator&) = delete;
    Simulator& operator=(const Simulator&) = delete;

    /// Runs these programs, one for each stream, from time 0 until all have ended. `stuck` is called, and must throw,
    /// if none can continue.
    virtual void run(std::vector<Coroutine<>>& programs, const std::function<void()>& stuck) = 0;

    virtual double now_s() const = 0;
    /// Calls `act` when nothing more happens at this instant, before time advances.
    virtual void at_end_of_instant(std::function<void()> act) = 0;

    /// Returns the connection of a pair. It is kept until both sides have released it and no message is in it.
    /// `lasting`: many messages will use it.
    virtual ConnectionId connect(const Pair& pair, bool lasting) = 0;
    virtual void release(ConnectionId connection) = 0;

    // Operations of a stream: only its own program may call and await these.

    /// The time may be infinite.
    auto sleep(StreamId stream, double seconds) {
        return Awaitable{[=, this](std::coroutine_handle<> caller) { return begin_sleep(stream, seconds, caller); }};
    }
    /// Waits for unpark().
    auto park(StreamId stream) {
        return Awaitable{[=, this](std::coroutine_handle<> caller) { return begin_park(stream, caller); }};
    }
    /// Waits for unpark(), but at most this time.
    auto park(StreamId stream, double seconds) {
        return Awaitable{[=, this](std::coroutine_handle<> caller) { return begin_park(stream, seconds, caller); }};
    }
    /// Lets all others run that can continue at this instant.
    auto yield(StreamId stream) {
        return Awaitable{[=, this](std::coroutine_handle<> caller) { return begin_yield(stream, caller); }};
    }
    /// Waits until all messages of the step have ended, those that it sends and those that it takes.
    auto ends(StreamId stream) {
        return Awaitable{[=, this](std::coroutine_handle<> caller) { return begin_wait(stream, 0, caller); }};
    }
    /// Waits until fewer than `window` of the sent messages of the step have not ended.
    auto window(StreamId stream, std::uint32_t window) {
        return Awaitable{[=, this](std::coroutine_handle<> caller) { return begin_wait(stream, window, caller); }};
    }
    /// Wakes a stream that is parked; does nothing if it is not.
    virtual void unpark(StreamId stream) = 0;

    /// Begins a step, which takes the oldest `receives` messages that were not taken; forgets the messages of the step
    /// before.
    virtual void begin_step(StreamId stream, std::uint32_t receives) = 0;
    /// Posts a receive, for this step or a later one.
    virtual void receive(StreamId stream, ConnectionId connection) = 0;
    /// Takes back the receive that was posted last, if its sender has not come.
    virtual void withdraw(StreamId stream, ConnectionId connection) = 0;
    /// Calls `act` whenever all receives that the stream has posted have ended, before it continues.
    virtual void on_receipt(StreamId stream, std::function<void()> act) = 0;
    /// Counts the received messages that have ended and were not taken by this step or an earlier one.
    virtual std::uint32_t untaken(StreamId stream) const = 0;
    /// Posts the step's next send. `limit_Bps` bounds its rate, and may be infinite. SimGrid's models ignore `meeting`.
    virtual void send(StreamId stream, ConnectionId connection, std::uint64_t bytes, double limit_Bps,
                      const Meeting& meeting) = 0;
    /// Return the time at which the index-th message that the step sends, or takes, ended; infinity if it has not.
    virtual double sent_s(StreamId stream, std::size_t index) const = 0;
    virtual double received_s(StreamId stream, std::size_t index) const = 0;
    /// Returns the links that the index-th message that the step sends took, if it has ended and messages choose their
    /// path when they start (Wires::adapts()).
    virtual std::span<const std::uint32_t> path(StreamId stream, std::size_t index) const = 0;

    /// A part of a message that the step sends, on other links than path(): see Fault::rerouted.
    struct Earlier {
        std::size_t index = 0;
        std::vector<std::uint32_t> links;
        std::uint64_t bytes = 0;  ///< on the wires
    };
    virtual std::span<const Earlier> earlier(StreamId) const { return {}; }

    /// A message that a link without bandwidth holds.
    struct Held {
        Pair pair;
        std::uint32_t link = 0;
    };
    /// Returns those that are held now, as far as that is known.
    virtual std::vector<Held> held() const { return {}; }

private:
    virtual bool begin_sleep(StreamId stream, double seconds, std::coroutine_handle<> caller) = 0;
    virtual bool begin_park(StreamId stream, std::coroutine_handle<> caller) = 0;
    virtual bool begin_park(StreamId stream, double seconds, std::coroutine_handle<> caller) = 0;
    virtual bool begin_yield(StreamId stream, std::coroutine_handle<> caller) = 0;
    /// `window`: 0 to wait for all messages.
    virtual bool begin_wait(StreamId stream, std::uint32_t window, std::coroutine_handle<> caller) = 0;
};

/// Returns the exact network model, never to be freed. `wires` must be those of a modelled fabric.
Simulator* event_simulator(Wires& wires, std::size_t streams);

}  // namespace syncline

#include <fmt/format.h>
#include <simgrid/Exception.hpp>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <simgrid/s4u/Semaphore.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "sim/base/replay_error.hpp"
#include "sim/simgrid/hosts.hpp"

/// SimGrid's network models: each lane is an actor, and a message is a put and a get in a mailbox. SimGrid never frees
/// a mailbox, so a message borrows one while it waits for its other side: the side that arrives first takes a free
/// mailbox, which becomes free when the other arrives. Receives are posted in the step that takes them: with SimGrid's
/// models latency is part of the message. The bound on a message's rate (Comm::set_rate) is not a factor on SimGrid's
/// bandwidth (set_bw_factor_cb): with a factor a message occupies its whole share of each link, so that two connections
/// that reach half of a link each would have a quarter each.
namespace syncline {

namespace sg = simgrid::s4u;

namespace {

/// Of a link that is down: SimGrid's solver leaves out links without bandwidth, which would then restrict nothing.
constexpr double down_rate = 1e-12;

/// Ends the simulation with an error of the calling actor. Only what a timer throws leaves the engine.
void fail(const std::string& message) {
    simgrid::kernel::timer::Timer::set(sg::Engine::get_clock(), [message] { throw ReplayError(message); });
    sg::this_actor::suspend();
}

class ActorSimulator : public Simulator {
public:
    ActorSimulator(Hosts& hosts, std::vector<ProcessId> processes)
        : hosts_(hosts), processes_(std::move(processes)), streams_(processes_.size()) {}

    void run(std::vector<Coroutine<>>& programs, const std::function<void()>& stuck) override {
        // Stacks of 64 KiB suffice for thousands of actors, none of them deep. Guard pages would make each stack a
        // mapping of its own, and a process may have only 65530.
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
        change_links();
        sg::Engine::on_deadlock_cb(stuck);
        sg::Engine::get_instance()->run();
    }

    double now_s() const override { return sg::Engine::get_clock(); }

    void at_end_of_instant(std::function<void()> act) override {
        simgrid::kernel::timer::Timer::set(sg::Engine::get_clock(), std::move(act));
    }

    ConnectionId connect(const Pair& pair, bool lasting) override {
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

    void release(ConnectionId connection) override { free_connections_.push_back(connection); }

    void unpark(StreamId stream) override {
        if (std::exchange(streams_[stream].parked, false)) streams_[stream].awake->release();
    }

    void begin_step(StreamId stream, std::uint32_t) override {
        streams_[stream].sent.clear();
        streams_[stream].received.clear();
        streams_[stream].in_flight.clear();
    }

    void receive(StreamId stream, ConnectionId connection) override {
        static void* received = nullptr;
        hosts_.move(connections_[connection].pair.to, connections_[connection].pair.channel);
        streams_[stream].received.push_back(mailbox(connection, false)->get_async<void>(&received));
    }

    void withdraw(StreamId, ConnectionId) override {
        throw std::logic_error("receives are posted in the step that takes them");
    }

    void on_receipt(StreamId, std::function<void()>) override {
        throw std::logic_error("receives are posted in the step that takes them");
    }

    std::uint32_t untaken(StreamId) const override { return 0; }
    void send(StreamId stream, ConnectionId connection, std::uint64_t bytes, double limit_Bps,
              const Meeting&) override {
        static char token;  // messages carry no data, but SimGrid requires an address
        hosts_.move(connections_[connection].pair.from, connections_[connection].pair.channel);
        sg::CommPtr comm = mailbox(connection, true)->put_init(&token, bytes);
        if (limit_Bps < std::numeric_limits<double>::infinity()) comm->set_rate(limit_Bps);
        comm->start();
        streams_[stream].sent.push_back(comm);
        streams_[stream].in_flight.push_back(comm);
    }

    double sent_s(StreamId stream, std::size_t index) const override { return end_s(streams_[stream].sent[index]); }
    double received_s(StreamId stream, std::size_t index) const override {
        return end_s(streams_[stream].received[index]);
    }
    std::span<const std::uint32_t> path(StreamId, std::size_t) const override { return {}; }

private:
    struct StreamState {
        sg::SemaphorePtr awake;
        bool parked = false;
        std::vector<sg::CommPtr> sent, received;  ///< messages of the step
        std::vector<sg::CommPtr> in_flight;       ///< those of them that it sends and that may not have ended
    };

    struct Connection {
        Pair pair;
        sg::Mailbox* mailbox = nullptr;  ///< if null, each message borrows one
    };

    /// Messages of a pair that wait for their other side.
    struct Waiting {
        sg::Mailbox* mailbox = nullptr;
        std::uint32_t messages = 0;
        bool sends = false;  ///< the side that is present is the sender's
    };

    bool begin_sleep(StreamId, double seconds, std::coroutine_handle<>) override {
        if (seconds == std::numeric_limits<double>::infinity())
            sg::this_actor::suspend();
        else if (seconds > 0)
            sg::this_actor::sleep_for(seconds);
        return false;
    }

    bool begin_park(StreamId stream, std::coroutine_handle<> caller) override {
        return begin_park(stream, -1, caller);  // SimGrid: without end
    }

    bool begin_park(StreamId stream, double seconds, std::coroutine_handle<>) override {
        if (!streams_[stream].awake) streams_[stream].awake = sg::Semaphore::create(0);
        const sg::SemaphorePtr& awake = streams_[stream].awake;
        streams_[stream].parked = true;
        const bool for_ever = seconds == std::numeric_limits<double>::infinity();
        const bool too_late = awake->acquire_timeout(for_ever ? -1 : seconds);
        // It may have been unparked at the very instant at which the time was over.
        if (too_late && !std::exchange(streams_[stream].parked, false)) awake->acquire();
        return false;
    }

    bool begin_yield(StreamId, std::coroutine_handle<>) override {
        sg::this_actor::yield();
        return false;
    }

    bool begin_wait(StreamId stream, std::uint32_t window, std::coroutine_handle<>) override {
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

    /// Changes the bandwidths of links with faults at their times.
    void change_links() {
        const std::vector<LinkRate>& rates = hosts_.wires().link_rates();
        for (std::size_t faulty = 0; faulty < rates.size(); ++faulty)
            sg::Actor::create("fault", hosts_.of(0, 0), [this, faulty, &changes = rates[faulty].rate.changes()] {
                sg::Actor::self()->daemonize();
                for (const RateOverTime::Change& change : changes) {
                    sg::this_actor::sleep_until(change.from_s);
                    hosts_.set_rate(faulty, std::max(change.rate, down_rate));
                }
            });
    }

    static double end_s(const sg::CommPtr& comm) {
        return comm->get_state() == sg::Activity::State::FINISHED ? comm->get_finish_time()
                                                                  : std::numeric_limits<double>::infinity();
    }

    /// Returns the mailbox in which the calling actor must post its side of the pair's next message, before it does
    /// anything else.
    sg::Mailbox* mailbox(ConnectionId connection, bool sends) {
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

    Hosts& hosts_;
    const std::vector<ProcessId> processes_;  ///< by lane
    std::vector<StreamState> streams_;
    std::vector<Connection> connections_;
    std::vector<ConnectionId> free_connections_;
    std::unordered_map<Pair, Waiting, Pair::Hash> waiting_;
    std::vector<sg::Mailbox*> free_mailboxes_;
    std::size_t pooled_ = 0;
};

}  // namespace

Simulator* actor_simulator(Hosts& hosts, std::vector<ProcessId> processes) {
    return new ActorSimulator(hosts, std::move(processes));
}

}  // namespace syncline

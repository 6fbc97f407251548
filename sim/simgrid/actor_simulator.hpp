#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>
#include <simgrid/s4u/Semaphore.hpp>

#include "sim/replay/simulator.hpp"
#include "sim/simgrid/hosts.hpp"

/// SimGrid's network models: each lane is an actor, and a message is a put and a get in a mailbox. SimGrid never frees
/// a mailbox, so a message borrows one while it waits for its other side: the side that arrives first takes a free
/// mailbox, which becomes free when the other arrives. Receives are posted in the step that takes them: with SimGrid's
/// models latency is part of the message. The bound on a message's rate (Comm::set_rate) is not a factor on SimGrid's
/// bandwidth (set_bw_factor_cb): with a factor a message occupies its whole share of each link, so that two connections
/// that reach half of a link each would have a quarter each.
namespace syncline {

class ActorSimulator : public Simulator {
public:
    /// `processes`: the process of each lane.
    ActorSimulator(Hosts& hosts, std::vector<ProcessId> processes);

    void run(std::vector<Coroutine<>>& programs, const std::function<void()>& stuck) override;
    double now_s() const override;
    void at_end_of_instant(std::function<void()> act) override;
    ConnectionId connect(const Pair& pair, bool lasting) override;
    void release(ConnectionId connection) override;
    void unpark(StreamId stream) override;
    void begin_step(StreamId stream, std::uint32_t receives) override;
    void receive(StreamId stream, ConnectionId connection) override;
    void withdraw(StreamId, ConnectionId) override;
    void on_receipt(StreamId, std::function<void()>) override;
    std::uint32_t untaken(StreamId) const override { return 0; }
    void send(StreamId stream, ConnectionId connection, std::uint64_t bytes, double limit_Bps,
              const Meeting& meeting) override;
    double sent_s(StreamId stream, std::size_t index) const override { return end_s(streams_[stream].sent[index]); }
    double received_s(StreamId stream, std::size_t index) const override {
        return end_s(streams_[stream].received[index]);
    }
    std::span<const std::uint32_t> path(StreamId, std::size_t) const override { return {}; }

private:
    struct StreamState {
        simgrid::s4u::SemaphorePtr awake;
        bool parked = false;
        std::vector<simgrid::s4u::CommPtr> sent, received;  ///< messages of the step
        std::vector<simgrid::s4u::CommPtr> in_flight;       ///< those of them that it sends and that may not have ended
    };

    struct Connection {
        Pair pair;
        simgrid::s4u::Mailbox* mailbox = nullptr;  ///< if null, each message borrows one
    };

    /// Messages of a pair that wait for their other side.
    struct Waiting {
        simgrid::s4u::Mailbox* mailbox = nullptr;
        std::uint32_t messages = 0;
        bool sends = false;  ///< the side that is present is the sender's
    };

    bool begin_sleep(StreamId stream, double seconds, std::coroutine_handle<> caller) override;
    bool begin_park(StreamId stream, std::coroutine_handle<> caller) override;
    bool begin_park(StreamId stream, double seconds, std::coroutine_handle<> caller) override;
    bool begin_yield(StreamId stream, std::coroutine_handle<> caller) override;
    bool begin_wait(StreamId stream, std::uint32_t window, std::coroutine_handle<> caller) override;

    static double end_s(const simgrid::s4u::CommPtr& comm);
    /// Returns the mailbox in which the calling actor must post its side of the pair's next message, before it does
    /// anything else.
    simgrid::s4u::Mailbox* mailbox(ConnectionId connection, bool sends);

    Hosts& hosts_;
    const std::vector<ProcessId> processes_;  ///< by lane
    std::vector<StreamState> streams_;
    std::vector<Connection> connections_;
    std::vector<ConnectionId> free_connections_;
    std::unordered_map<Pair, Waiting, Pair::Hash> waiting_;
    std::vector<simgrid::s4u::Mailbox*> free_mailboxes_;
    std::size_t pooled_ = 0;
};

}  // namespace syncline

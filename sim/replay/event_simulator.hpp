#pragma once

#include <boost/container/small_vector.hpp>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/network/agenda.hpp"
#include "sim/network/flows.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/simulator.hpp"
#include "sim/replay/wires.hpp"

/// The exact network model: messages are flows (sim/network), and streams are coroutines that an event resumes.
///
/// It is a clockwork (engine.hpp) that runs on SimGrid's clock. At each instant at which a flow ends or a stream has
/// slept enough, all streams run that can, until none can; then links are shared anew. Events closer than a picosecond
/// are one instant.
///
/// Without contention every flow has the narrowest bandwidth of its route for itself.
namespace syncline {

class EventSimulator : public Simulator, private Clockwork {
public:
    /// `wires` must be those of a modelled fabric, and outlive this.
    explicit EventSimulator(Wires& wires, std::size_t streams);

    void run(std::vector<Coroutine<>>& programs, const std::function<void()>& stuck) override;
    double now_s() const override { return now_s_; }
    void at_end_of_instant(std::function<void()> act) override { last_acts_.push_back(std::move(act)); }
    ConnectionId connect(const Pair& pair, bool lasting) override;
    void release(ConnectionId connection) override;
    void unpark(StreamId stream) override;
    void begin_step(StreamId stream, std::uint32_t receives) override;
    void receive(StreamId stream, ConnectionId connection) override;
    void withdraw(StreamId stream, ConnectionId connection) override;
    void on_receipt(StreamId stream, std::function<void()> act) override {
        streams_[stream].on_receipt = std::move(act);
    }
    std::uint32_t untaken(StreamId stream) const override;
    void send(StreamId stream, ConnectionId connection, std::uint64_t bytes, double limit_Bps,
              const Meeting& meeting) override;
    double sent_s(StreamId stream, std::size_t index) const override { return streams_[stream].sent_s[index]; }
    double received_s(StreamId stream, std::size_t index) const override {
        return streams_[stream].received_s[streams_[stream].first + index];
    }
    std::span<const std::uint32_t> path(StreamId stream, std::size_t index) const override {
        return streams_[stream].paths[index];
    }

private:
    using Index = std::uint32_t;
    static constexpr Index nobody = ~Index{0};

    /// Most steps send and receive one message.
    using Times = boost::container::small_vector<double, 2>;

    enum class Wait : std::uint8_t { none, time, unpark, unpark_or_time, messages, window };

    struct StreamState {
        std::coroutine_handle<> caller;
        Wait wait = Wait::none;
        std::uint32_t in_flight = 0;  ///< messages that the step sends and that have not ended
        std::uint32_t window = 0;
        // Numbers of receives, counted by the stream: posted, ended, and taken by this step or an earlier one.
        std::uint32_t posted = 0, received = 0, taken = 0;
        std::uint32_t receives = 0;  ///< those that the step takes
        std::size_t first = 0;       ///< in received_s, the first of these
        Times sent_s;                ///< ends, by message that the step sends
        Times received_s;            ///< ends, of the last receives, up to the one that was posted last
        std::vector<std::vector<std::uint32_t>> paths;
        std::function<void()> on_receipt;

        bool has_ended() const { return in_flight == 0 && received >= taken; }
    };

    struct Message {
        double bytes = 0, limit_Bps = 0;
        ConnectionId connection = 0;
        StreamId sender = 0, receiver = nobody;  ///< an eager message may end before it has a receiver
        Meeting meeting;
        double put_s = 0;            ///< time at which its sender was ready
        double ended_s = -1;         ///< below 0: it has not
        bool started = false;        ///< or will, after a handshake
        std::uint32_t sent = 0;      ///< its index in the sender's step
        std::uint32_t received = 0;  ///< its number among the receiver's
        Flows::Bundle bundle = 0;
        Index next = nobody;  ///< in the connection's queue
    };

    struct Route {
        std::vector<std::uint32_t> links;                                             ///< if there are bundles
        boost::container::small_vector<std::pair<double, Flows::Bundle>, 1> bundles;  ///< by bound
    };

    struct Connection {
        Pair pair;
        std::uint32_t users = 0;  ///< sides that have it and messages in it
        Index route = 0;
        ConnectionId next = nobody;  ///< with the same route, of another channel
        double limit_Bps = -1;       ///< of the last message that started; below 0: none has
        Flows::Bundle bundle = 0;    ///< its flow's
        /// Messages of which one side is present, in order.
        Index first = nobody, last = nobody;
        bool sends = false;  ///< the side that is present is the sender's
    };

    bool begin_sleep(StreamId stream, double seconds, std::coroutine_handle<> caller) override;
    bool begin_park(StreamId stream, std::coroutine_handle<> caller) override;
    bool begin_park(StreamId stream, double seconds, std::coroutine_handle<> caller) override;
    bool begin_yield(StreamId stream, std::coroutine_handle<> caller) override;
    bool begin_wait(StreamId stream, std::uint32_t window, std::coroutine_handle<> caller) override;
    void suspend(StreamId stream, Wait wait, std::coroutine_handle<> caller);
    void wake(StreamId stream);

    /// Returns the message whose other side is present, or a new one that waits for it.
    Index match(Connection& connection, ConnectionId number, bool sends);
    /// Starts a message both of whose sides are present, now or after its handshake.
    void meet(Index number);
    void start(Index number);
    void end(Index number);
    void let_go(Index number);
    void wake_if_ended(StreamId stream);
    Pair route_key(const Pair& pair) const;
    Flows::Bundle bundle(Connection& connection, double limit_Bps);
    Flows::Bundle add_bundle(std::span<const std::uint32_t> links, double limit_Bps);
    /// Lets go of a connection that nobody uses.
    void drop(ConnectionId number);
    double next_s(double now_s) override;
    /// Runs everything that happens at this instant.
    void happen(double now_s) override;
    bool over() const override { return running_ == 0; }

    void resume(StreamId stream);

    Wires& wires_;
    Flows flows_;
    Agenda sleeps_;  // by stream
    Agenda starts_;  // by message, of those that wait for a handshake
    double now_s_ = 0;
    std::vector<StreamState> streams_;
    std::span<const Coroutine<>> programs_;  // by stream
    std::size_t running_ = 0;                // programs that have not ended
    std::vector<StreamId> awake_, waking_;
    std::vector<Index> weightless_;     // messages without bytes that have started, or whose receivers came after them
    std::vector<StreamId> up_to_date_;  // streams that have received everything that they expect
    std::vector<std::function<void()>> last_acts_;
    std::vector<Message> messages_;
    std::vector<Index> free_messages_;
    std::vector<Connection> connections_;
    std::vector<ConnectionId> free_connections_;
    std::vector<Route> routes_;
    std::vector<Index> free_routes_;
    std::unordered_map<Pair, ConnectionId, Pair::Hash> first_of_route_;
    std::vector<std::uint32_t> in_flight_;  // messages by link, if they choose their path
    std::vector<Index> ended_;
    std::vector<std::uint32_t> links_;  // scratch
};

}  // namespace syncline

#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/replay/session.hpp"

/// The programs of one lane (lanes.hpp), exchange by exchange. The costs of a message that the transport adds for
/// sender and receiver (transport.hpp) are time in which the lane sleeps.
///
/// If latency travels (cluster.hpp), a step ends when the messages that it sends have left and those that it receives
/// have arrived, a latency after their last byte; otherwise when all of them have had their latency. Receives are then
/// posted before the lane has come so far, as with MPI_Irecv: during an exchange, those of the next step that has any
/// as soon as the bytes of all posted ones are there. So the messages of a program follow each other on the wires, in
/// its order. Left out: limits of the buffers for messages that have arrived and are not yet used.
namespace syncline {

class LaneReplay {
public:
    /// `siblings`: the lanes of the stream, this one included.
    LaneReplay(Session& session, LaneId lane, const std::vector<std::unique_ptr<LaneReplay>>& siblings);

    /// Prepares the program of lane `number` of an exchange's task.
    void prepare(TaskId id, std::uint32_t iteration, std::uint32_t number);
    bool has_steps() const { return !now_->program.steps.empty(); }
    /// Returns true if the member's own data is part of what it sends: its first step sends or reduces, while a later
    /// one may only pass on what it received.
    bool contributes() const;
    bool receives() const;
    /// Runs the prepared program.
    Coroutine<> run();
    Coroutine<> spend(ActKind kind, double seconds);
    /// Copies data out of the device or into it, if the transport stages such units.
    Coroutine<> copy(Staging::Unit unit, bool outwards, std::uint64_t bytes);

    // A further lane runs beside its stream, which starts it, and waits for it.
    /// Runs prepared programs when they are started, until the lane is closed.
    Coroutine<> serve();
    void start();
    /// Makes the stream, which is the caller, wait until the lane's program has ended.
    Coroutine<> end();
    void close();

    /// Returns the step that the lane is at in its exchange, and its repetition.
    std::pair<std::uint32_t, std::uint32_t> at() const;
    /// Reports the bytes sent in the measured iterations to the session, at the end.
    void report_bytes();
    /// Lets go of the connections; the lane runs no more programs.
    void disconnect();

private:
    /// One direction of a connection to another process.
    struct Peer {
        ConnectionId connection = 0;
        const MessageTerms* terms = nullptr;       ///< the transport's
        double latency_s = 0;                      ///< of a message, after its end
        std::uint64_t bytes = 0;                   ///< sent in the measured iteration
        std::uint64_t on_wires = 0;                ///< the same on the wires
        std::uint64_t delivered = 0;               ///< messages, which number their latencies' draws
        Recorder::Connection* recorded = nullptr;  ///< if messages are recorded
        Pair pair;
        bool inside_node = false;
        double payload = 1;       ///< the transport's
        bool weightless = false;  ///< its bytes take no time
    };

    /// Remaining costs of a rank when the bytes of a step are delivered, one after the other.
    struct Rest {
        double latency_s = 0, receive_s = 0, reduction_s = 0;

        double seconds() const { return latency_s + receive_s + reduction_s; }
    };

    /// The connections of a step's messages, looked up once and used in every repetition.
    struct Ports {
        std::vector<Peer*> out, in;
        bool turn = false;  ///< some of them
    };

    /// An exchange, and how far the lane has come in it.
    struct Current {
        Current(const Session& session, const Task& task, std::uint32_t iteration, std::uint32_t lane);

        const Exchange& exchange;
        ExchangeId id;
        std::span<const ProcessId> group;
        Program program;
        std::uint32_t channel;  ///< of its messages
        Walk walk;              ///< the current step
        Walk posted;            ///< the first step whose receives are not posted
        bool ahead = false;     ///< the receives of the current step are posted
    };

    Coroutine<> spend(Rest rest);
    /// Returns these costs as they are at the process's speed.
    Rest at_speed(Rest rest) const;
    /// Records an act, if messages are recorded.
    void record(ActKind kind, double start_s, double end_s);
    /// Returns the bytes of a message of the current step, padded if the replay pads. (As a lambda in run_steps it
    /// would be part of the coroutine's frame, of which GCC warns in unity builds.)
    std::uint64_t bytes_of(const Message& message) const;
    /// Runs steps, from the current one on: this number or, if they are fewer, those that are left.
    Coroutine<> run_steps(std::uint32_t count, RingFolding::Visit visit);
    /// Waits until the lane that the step follows has done enough steps.
    Coroutine<> await_lane(const Step& step);
    /// Skips folded steps and counts what they send.
    void skip(std::uint32_t steps);
    /// Posts the receives of the next step that has any.
    void post();
    /// Takes back those of the last step whose receives are posted.
    void withdraw(const Step& step, const Ports& ports);
    /// Returns null if this iteration is not recorded.
    Recorder* recorder() const {
#ifdef SYNCLINE_WITHOUT_RECORDER  // baseline of scripts/bench for the cost of this question
        return nullptr;
#else
        return recorder_;
#endif
    }
    /// Returns how the sides of a message of this size meet.
    Meeting meeting(const Peer& peer, std::uint64_t bytes) const;
    /// Returns the latency of a message, after its end, unless it varies.
    /// Returns data divided by bytes on the wires, of messages to or from this peer.
    double factor(const Peer& peer) const;
    double latency_s(const Peer& peer) const;
    void send(const Peer& peer, std::uint64_t bytes);
    void receive(const Peer& peer);
    /// Waits until fewer messages of this step are in flight than the transport's window allows.
    Coroutine<> await_window();
    /// Counts and records the paths of the step's messages that chose them when they started.
    void note_paths(const Ports& ports);
    /// Returns the seconds until the step's messages, whose bytes are all delivered, have had the latency that the
    /// lane waits for. Records the messages.
    double rest_of_latency(const Ports& ports);
    /// Returns the connection with process `other` in the current exchange.
    Peer& peer(ProcessId other, bool outwards);
    /// Returns true if the bytes of the current exchange are counted here: see rounding.hpp.
    bool counts() const {
        return session_.measures(iteration_) && now_->exchange.added_bytes == 0;
    }
    void add_bytes(Peer& peer, std::uint64_t bytes, std::uint64_t on_wires) const;
    /// Returns a new one. `lasting`: it is kept for later exchanges.
    Peer connect(ProcessId other, bool outwards, bool lasting);
    /// Returns the connection of a message with its peer in this repetition of its step, if that turns.
    Peer turned(const Message& message, std::uint32_t repetition, bool outwards);
    /// Puts the current step's connections with peers that turn in place, and removes them again.
    void turn(Ports& ports);
    void turn_away(const Ports& ports);
    void report_bytes(const Peer& peer);

    Session& session_;
    const LaneId lane_;
    const std::vector<std::unique_ptr<LaneReplay>>& siblings_;
    const StreamId stream_;
    const ProcessId process_;
    const Lateness& lateness_;
    const ProcessId first_;  ///< process of the part of the graph: lateness is drawn by numbers within it
    const Transport& transport_;
    Simulator& simulator_;
    const bool travels_;  ///< latency
    bool started_ = false, awaited_ = false, closed_ = false;
    std::uint64_t steps_done_ = 0;  ///< in this exchange, if others may wait for them
    std::vector<LaneId> follow_;    ///< lanes that wait for more
    std::uint32_t iteration_ = 0;
    TaskId task_ = 0;
    Recorder* recorder_ = nullptr;  ///< of this iteration
    bool padded_ = false;           ///< blocks count as the largest

    std::optional<Current> now_;
    std::vector<Ports> ports_;               // by step of the current program
    std::vector<MessageId> recorded_;        // messages that the step sends, if they are recorded ...
    std::vector<MessageId> recorded_in_;     // ... and those whose receives are posted and that no earlier step took
    MessageId last_ = Act::no_message;       // the one that the step waited for longest
    double wait_start_s_ = 0;                // start of the wait for them
    std::vector<std::uint64_t> travelling_;  // by sent message of the step: bytes on the wires, if it chose its path
    std::unordered_map<std::uint64_t, Peer> peers_;
    // Connections with peers that turn, in use: of the current step's sends, and of receives that are posted. They are
    // not kept, or there would be one per pair.
    std::list<Peer> turning_out_, turning_in_;  // a deque allocates 600 B as soon as there is one
};

}  // namespace syncline

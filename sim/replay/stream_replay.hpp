#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/replay/session.hpp"

/// The program of one stream: its tasks in order, or by priority, iteration by iteration. The costs of a message that
/// the transport adds for sender and receiver (transport.hpp) are time in which the stream sleeps.
namespace syncline {

class StreamReplay {
public:
    StreamReplay(Session& session, StreamId stream)
        : session_(session),
          stream_(stream),
          process_(session.graph.streams()[stream].process),
          transport_(session.wires.transport()),
          simulator_(session.simulator) {}

    Coroutine<> run();
    /// Reports the bytes sent in the measured iterations to the session, at the end.
    void report_bytes();

private:
    /// One direction of a connection to another process.
    struct Peer {
        static constexpr ConnectionId none = ~ConnectionId{0};

        ConnectionId connection = none;
        const MessageTerms* terms = nullptr;       ///< the transport's
        double latency_s = 0;                      ///< of a message, after its end
        std::uint64_t bytes = 0;                   ///< sent in the measured iteration
        std::uint64_t on_wires = 0;                ///< the same on the wires
        Recorder::Connection* recorded = nullptr;  ///< if messages are recorded
        Pair pair;
        bool inside_node = false;
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
    };

    Coroutine<> run_exchange(TaskId id, const Task& task);
    Coroutine<> spend(ActKind kind, double seconds);
    Coroutine<> spend(Rest rest);
    /// Records an act, if messages are recorded.
    void record(ActKind kind, double start_s, double end_s);
    Coroutine<> run_section(Folding& folding, const RingSection& section, const Folding::Pass& pass,
                            std::span<const ProcessId> group, Walk& walk, const Partition& partition);
    /// Skips folded steps and counts what they send.
    void skip(Walk& walk, std::uint32_t steps, const Partition& partition, const Exchange& exchange,
              std::span<const ProcessId> group);
    /// Runs the step at which `walk` is.
    Coroutine<> run_step(const Walk& walk, const Partition& partition, const Exchange& exchange,
                         std::span<const ProcessId> group);
    /// Returns null if this iteration is not recorded.
    Recorder* recorder() const {
#ifdef SYNCLINE_WITHOUT_RECORDER  // baseline of scripts/bench for the cost of this question
        return nullptr;
#else
        return recorder_;
#endif
    }
    void send(const Peer& peer, std::uint64_t bytes, const Protocol& protocol);
    void receive(const Peer& peer);
    /// Waits until fewer messages of this step are in flight than the transport's window allows.
    Coroutine<> await_window(const Ports& ports);
    /// Counts and records the paths of the step's messages that chose them when they started.
    void note_paths(const Ports& ports);
    /// Copies data out of the device or into it, if the transport stages such units.
    Coroutine<> copy(Staging::Unit unit, bool outwards, std::uint64_t bytes);
    /// Returns the seconds until the last of the step's messages, whose bytes are all delivered, has had its latency.
    double rest_of_latency(const Ports& ports, const Protocol& protocol);
    /// Returns the connection of `exchange` with process `other`.
    Peer& peer(const Exchange& exchange, ProcessId other, bool outwards);
    void count(Peer& peer, std::uint64_t bytes, std::uint64_t on_wires) const;
    /// Returns a new one. `lasting`: it is kept for later exchanges.
    Peer connect(const Exchange& exchange, ProcessId other, bool outwards, bool lasting);
    /// Connects the messages of the step at which `walk` is, whose peers turn, with the peers of its repetition.
    void turn(const Walk& walk, const Ports& ports, const Exchange& exchange, std::span<const ProcessId> group);
    void report_bytes(const Peer& peer);

    Session& session_;
    const StreamId stream_;
    const ProcessId process_;
    const Transport& transport_;
    Simulator& simulator_;
    std::uint32_t iteration_ = 0;
    TaskId task_ = 0;
    Recorder* recorder_ = nullptr;  ///< of this iteration
    bool padded_ = false;           ///< blocks count as the largest

    std::vector<Ports> ports_;               // by step of the current program
    std::vector<MessageId> recorded_;        // messages of the step, if they are recorded
    std::vector<std::uint64_t> travelling_;  // by sent message of the step: bytes on the wires, if it chose its path
    MessageId last_ = Act::no_message;       // the last of these to arrive
    double wait_start_s_ = 0;                // start of the wait for these
    std::unordered_map<std::uint64_t, Peer> peers_;
    std::list<Peer> turning_;  // connections of the current program: not kept, or there would be one per pair
};

}  // namespace syncline

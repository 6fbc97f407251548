#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>

#include "sim/replay/session.hpp"

/// The actor that runs one stream: its tasks in order, or by priority, iteration by iteration. The costs of a message
/// that the transport adds for sender and receiver (transport.hpp) are time in which the stream sleeps.
///
/// The bandwidth of one connection is a bound on the message's rate (Comm::set_rate), not a factor on SimGrid's
/// bandwidth (set_bw_factor_cb): with a factor a message occupies its whole share of each link and moves less data with
/// it, so that two connections that reach half of a link each would have a quarter each, while real ones fill it
/// together. connections that reach half of a link each would have a quarter each, where real ones fill it together.
namespace syncline {

class StreamActor {
public:
    StreamActor(Session& session, StreamId stream)
        : session_(session),
          stream_(stream),
          process_(session.graph.streams()[stream].process),
          transport_(session.wires.transport()) {}

    void run();
    /// Reports the bytes sent in the measured iterations to the session, at the end.
    void report_bytes();

private:
    /// One direction of a connection to another process.
    struct Peer {
        simgrid::s4u::Mailbox* mailbox = nullptr;    ///< if null, each message uses one of the pool
        const MessageTerms* terms = nullptr;         ///< the transport's
        double latency_s = 0;                        ///< of a message, in addition to SimGrid's
        std::uint64_t bytes = 0;                     ///< sent in the measured iteration
        std::uint64_t on_wires = 0;                  ///< the same on the wires
        Recorder::Connection* connection = nullptr;  ///< if messages are recorded
        MailboxPool::Pair pair;
        bool inside_node = false;
        bool weightless = false;  ///< its bytes take no time
    };

    /// Remaining costs of a rank when the bytes of a step are delivered, one after the other.
    struct Rest {
        double latency_s = 0, receive_s = 0, reduction_s = 0;
    };

    /// The connections of a step's messages, looked up once and used in every repetition.
    struct Ports {
        std::vector<Peer*> out, in;
    };

    void run_exchange(TaskId id, const Task& task);
    void spend(ActKind kind, double seconds);
    void spend(const Rest& rest);
    /// Records an act, if messages are recorded.
    void record(ActKind kind, double start_s, double end_s);
    void run_section(Folding& folding, const RingSection& section, const Folding::Pass& pass,
                     std::span<const ProcessId> group, Walk& walk, const Partition& partition);
    /// Skips folded steps and counts what they send.
    void skip(Walk& walk, std::uint32_t steps, const Partition& partition, const Exchange& exchange,
              std::span<const ProcessId> group);
    /// Runs the step at which `walk` is.
    void run_step(const Walk& walk, const Partition& partition, const Exchange& exchange,
                  std::span<const ProcessId> group);
    /// Returns null if this iteration is not recorded.
    Recorder* recorder() const {
#ifdef SYNCLINE_WITHOUT_RECORDER  // baseline of scripts/bench for the cost of this question
        return nullptr;
#else
        return recorder_;
#endif
    }
    simgrid::s4u::CommPtr put(Peer& peer, std::uint64_t bytes, const Protocol& protocol);
    simgrid::s4u::CommPtr get(Peer& peer);
    /// Records that a message that this stream sent is delivered and leaves its links, if messages choose their path
    /// when they start.
    void through(const simgrid::s4u::CommPtr& comm);
    /// Waits for all messages sent in this step, and notes the delivery of each.
    void await_each();
    /// Waits until fewer messages of this step are in flight than the transport's window allows.
    void await_window();
    /// Copies data out of the device or into it, if the transport stages such units.
    void copy(Staging::Unit unit, bool outwards, std::uint64_t bytes);
    /// Returns the seconds until the last of the pending messages, whose bytes are all delivered, has had its latency.
    double rest_of_latency(const Ports& ports, const Protocol& protocol);
    /// Returns the connection of `exchange` with process `other`.
    Peer& peer(const Exchange& exchange, ProcessId other, bool outwards);
    void count(Peer& peer, std::uint64_t bytes, std::uint64_t on_wires) const;
    /// Returns the same without a mailbox of its own.
    Peer passing_peer(const Exchange& exchange, ProcessId other, bool outwards);
    simgrid::s4u::Mailbox* mailbox(const Peer& peer, MailboxPool::Side side) {
        return peer.mailbox != nullptr ? peer.mailbox : session_.mailboxes.next(peer.pair, side);
    }
    /// Connects the messages of the step at which `walk` is, whose peers turn, with the peers of its repetition.
    void turn(const Walk& walk, const Ports& ports, const Exchange& exchange, std::span<const ProcessId> group);
    void report_bytes(const Peer& peer);

    Session& session_;
    const StreamId stream_;
    const ProcessId process_;
    const Transport& transport_;
    std::uint32_t iteration_ = 0;
    TaskId task_ = 0;
    Recorder* recorder_ = nullptr;  ///< of this iteration
    bool padded_ = false;           ///< blocks count as the largest

    std::vector<Ports> ports_;                    // by step of the current program
    std::vector<simgrid::s4u::CommPtr> pending_;  // messages of the step: received ones, then sent ones
    std::vector<simgrid::s4u::CommPtr> window_;   // sent messages in flight, if the transport has a window
    std::vector<MessageId> recorded_;             // of the pending messages, if messages are recorded
    MessageId last_ = Act::no_message;            // the last of these to arrive
    struct InFlight {
        simgrid::s4u::CommPtr comm;
        MailboxPool::Pair pair;
        std::uint64_t number = 0;  ///< number within its connection
        std::uint64_t bytes = 0;   ///< bytes on the wires
        MessageId recorded = 0;    ///< if messages are recorded
    };
    std::vector<InFlight> in_flight_;  // sent messages, if messages choose their path when they start
    double wait_start_s_ = 0;          // start of the wait for these
    std::unordered_map<std::uint64_t, Peer> peers_;
    std::list<Peer> turning_;  // connections of the current program: not kept, or there would be one per pair
};

}  // namespace syncline

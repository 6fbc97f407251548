#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>

#include "sim/replay/session.hpp"

/// The actor that runs one stream: its tasks in order, or by priority, iteration by iteration. What the transport makes
/// a message cost its sender and receiver (transport.hpp) is time in which the stream sleeps.
///
/// What one connection reaches is a bound on the message's rate (Comm::set_rate), not a factor on SimGrid's bandwidth
/// (set_bw_factor_cb): under a factor a message takes its whole share of each link and moves less with it, so that two
/// connections that reach half of a link each would have a quarter each, where real ones fill it together.
namespace syncline {

class StreamActor {
public:
    StreamActor(Session& session, StreamId stream)
        : session_(session),
          stream_(stream),
          process_(session.graph.streams()[stream].process),
          transport_(session.wires.transport()) {}

    void run();
    /// To the session, when all is over: what was sent in the measured iterations.
    void report_bytes();

private:
    /// One direction of a connection to another process.
    struct Peer {
        simgrid::s4u::Mailbox* mailbox = nullptr;    ///< if none, that of each message is one of the pool
        const MessageTerms* terms = nullptr;         ///< the transport's
        double latency_s = 0;                        ///< of a message, beside what SimGrid adds
        std::uint64_t bytes = 0;                     ///< sent in the measured iteration
        std::uint64_t on_wires = 0;                  ///< the same as they travel
        Recorder::Connection* connection = nullptr;  ///< if somebody records
        MailboxPool::Pair pair;
        bool inside_node = false;
        bool weightless = false;  ///< its bytes take no time
    };

    /// What a rank still has to do when the bytes of a step are through: one after the other.
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
    /// From `start_s` to now, if somebody records.
    void record(ActKind kind, double start_s, double end_s);
    void run_section(Folding& folding, const Section& section, const Folding::Pass& pass,
                     std::span<const ProcessId> group, Walk& walk, const Partition& partition);
    /// Steps that are folded: counts what they send.
    void skip(Walk& walk, std::uint32_t steps, const Partition& partition, const Exchange& exchange,
              std::span<const ProcessId> group);
    /// The step at which `walk` is.
    void run_step(const Walk& walk, const Partition& partition, const Exchange& exchange,
                  std::span<const ProcessId> group);
    /// Nothing where nobody records this iteration.
    Recorder* recorder() const {
#ifdef SYNCLINE_WITHOUT_RECORDER  // what scripts/bench measures the question against
        return nullptr;
#else
        return recorder_;
#endif
    }
    simgrid::s4u::CommPtr put(Peer& peer, std::uint64_t bytes, const Protocol& protocol);
    simgrid::s4u::CommPtr get(Peer& peer);
    /// Where messages choose their way when they start: one that this stream sent is through, and leaves its links.
    void through(const simgrid::s4u::CommPtr& comm);
    /// Until all that was sent in this step is through, noticing each when it is.
    void await_each();
    /// Until fewer of the messages sent in this step are on their way than the transport's window has.
    void await_window();
    /// Copies out of the device or into it, if the transport stages such units.
    void copy(Staging::Unit unit, bool outwards, std::uint64_t bytes);
    /// Seconds until the last of the pending messages, whose bytes are all through, has had its latency.
    double rest_of_latency(const Ports& ports, const Protocol& protocol);
    /// The connection of `exchange` with process `other`.
    Peer& peer(const Exchange& exchange, ProcessId other, bool outwards);
    void count(Peer& peer, std::uint64_t bytes, std::uint64_t on_wires) const;
    /// The same without a mailbox of its own.
    Peer passing_peer(const Exchange& exchange, ProcessId other, bool outwards);
    simgrid::s4u::Mailbox* mailbox(const Peer& peer, MailboxPool::Side side) {
        return peer.mailbox != nullptr ? peer.mailbox : session_.mailboxes.next(peer.pair, side);
    }
    /// For the step at which `walk` is, connects messages whose peers turn with those of its repetition.
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

    std::vector<Ports> ports_;                    // by step of the program that is run
    std::vector<simgrid::s4u::CommPtr> pending_;  // of the step: what is received, then what is sent
    std::vector<simgrid::s4u::CommPtr> window_;   // of what is sent, if the transport has a window: what is on its way
    std::vector<MessageId> recorded_;             // of what is pending, if somebody records
    MessageId last_ = Act::no_message;            // of these, the last to be there
    struct InFlight {
        simgrid::s4u::CommPtr comm;
        MailboxPool::Pair pair;
        std::uint64_t number = 0;  ///< of its connection
        std::uint64_t bytes = 0;   ///< as they travel
        MessageId recorded = 0;    ///< if somebody records
    };
    std::vector<InFlight> in_flight_;  // of what is sent, where messages choose their way when they start
    double wait_start_s_ = 0;          // for these
    std::unordered_map<std::uint64_t, Peer> peers_;
    std::list<Peer> turning_;  // of the program that is run: not kept, else there would be one for each pair
};

}  // namespace syncline

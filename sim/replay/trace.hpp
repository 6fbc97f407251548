#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/replay/meeting.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Acts of streams, in the lanes of their exchanges, and messages in the recorded iterations of a replay, in simulated
/// seconds from its start.
///
/// A stream in an exchange passes from one act to the next without a gap. A message's bytes flow from `start_s()`, the
/// moment when both its sides have arrived unless they meet otherwise, until `through_s`; then its latency follows.
/// With the network models LV08, SMPI and CM02 the latency is SimGrid's, and is counted as part of the flow.
///
/// Memory is about 32 bytes per act and 64 per message: an iteration of 10^6 messages takes about 130 MB.
namespace syncline {

using MessageId = std::uint32_t;

enum class ActKind : std::uint8_t {
    launch,    ///< of a collective: its kernel, its set-up
    copy,      ///< between a device and the transport's buffers
    send,      ///< a sender's overheads, queries included
    window,    ///< wait until fewer messages are in flight than the transport's window allows
    messages,  ///< wait until the messages of the step have been sent, or have arrived, latency included
    receive,   ///< a receiver's overheads
    reduction  ///< reduction of received data
};

struct Act {
    static constexpr MessageId no_message = ~MessageId{0};

    double start_s = 0, end_s = 0;
    TaskId task = 0;
    std::uint32_t iteration = 0;
    MessageId last = no_message;  ///< of `messages` and `window`: the message that was waited for longest
    ActKind kind = ActKind::launch;
};

struct MessageRecord {
    static constexpr double never = std::numeric_limits<double>::infinity();

    TaskId sender = 0, receiver = 0;  ///< the tasks that it belongs to
    std::uint32_t iteration = 0;
    std::uint32_t route = 0;              ///< in Trace::routes
    std::uint64_t bytes = 0;              ///< on the wires
    double put_s = never, got_s = never;  ///< arrival of its sender and of its receiver
    double through_s = never;             ///< delivery of its last byte
    double latency_s = 0;                 ///< latency after that
    std::uint32_t sender_lane = 0, receiver_lane = 0;
    Meeting meeting = {};
    double start_s() const { return meeting.start_s(put_s, got_s); }
    /// Returns true if the sender's arrival decides the start, not the receiver's.
    bool sender_decides() const { return !meeting.awaits_receiver || put_s + meeting.handshake_s >= got_s; }
    double end_s() const { return through_s + latency_s; }
};

/// One direction of a link that a message used.
struct TracedLink {
    std::string name;
    double bandwidth_Bps = 0;
    bool shared = true;  ///< if false, every message has the whole bandwidth for itself
};

struct Trace {
    bool latency_travels = false;        ///< senders do not wait for it
    std::vector<std::vector<Act>> acts;  ///< by lane (lanes.hpp), in order of time; none outside exchanges
    std::vector<StreamId> stream_of_lane;
    std::vector<MessageRecord> messages;
    std::vector<TracedLink> links;
    /// The paths of messages, each once, as indices of links.
    std::vector<std::vector<std::uint32_t>> routes;
    /// By route: the part of a message on each of its links; an empty one, or none: all of it.
    std::vector<std::vector<double>> parts;

    /// Returns the part of a message that the i-th link of a route carries.
    double part(std::uint32_t route, std::size_t i) const {
        return route < parts.size() && !parts[route].empty() ? parts[route][i] : 1;
    }
    bool empty() const { return acts.empty(); }
};

}  // namespace syncline

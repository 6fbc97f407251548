#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/taskgraph/task_graph.hpp"

/// What streams and messages did in the recorded iterations of a replay, in simulated seconds from its start.
///
/// A stream in an exchange goes from one act to the next without a gap. A message's bytes flow from the moment when
/// both its sides have come to it until `through_s`; then it has its latency. With the network models LV08, SMPI and
/// CM02 the latency is SimGrid's, and is counted among the flow.
///
/// About 32 bytes an act and 64 a message: an iteration of 10^6 messages takes some 130 MB.
namespace syncline {

using MessageId = std::uint32_t;

enum class ActKind : std::uint8_t {
    launch,    ///< of a collective: its kernel, its set-up
    copy,      ///< between a device and the transport's buffers
    send,      ///< a sender's overheads, queries included
    window,    ///< until fewer messages are on their way than the transport's window has
    messages,  ///< until all messages of the step are there, latency included
    receive,   ///< a receiver's overheads
    reduction  ///< summing what has arrived
};

struct Act {
    static constexpr MessageId no_message = ~MessageId{0};

    double start_s = 0, end_s = 0;
    TaskId task = 0;
    std::uint32_t iteration = 0;
    MessageId last = no_message;  ///< of `messages` and `window`: the message that was the last to be there
    ActKind kind = ActKind::launch;
};

struct MessageRecord {
    static constexpr double never = std::numeric_limits<double>::infinity();

    TaskId sender = 0, receiver = 0;  ///< the tasks that it is a part of
    std::uint32_t iteration = 0;
    std::uint32_t route = 0;              ///< in Trace::routes
    std::uint64_t bytes = 0;              ///< as they travel
    double put_s = never, got_s = never;  ///< when its sender and its receiver came to it
    double through_s = never;             ///< when its last byte was through
    double latency_s = 0;                 ///< what it had behind that
    double start_s() const { return put_s > got_s ? put_s : got_s; }
    double end_s() const { return through_s + latency_s; }
};

/// A link that a message went over, one direction of it.
struct TracedLink {
    std::string name;
    double bandwidth_Bps = 0;
    bool shared = true;  ///< else every message has the whole bandwidth for itself
};

struct Trace {
    std::vector<std::vector<Act>> acts;  ///< by stream, in the order of time; none outside exchanges
    std::vector<MessageRecord> messages;
    std::vector<TracedLink> links;
    /// The ways that messages took, each once: indices of links.
    std::vector<std::vector<std::uint32_t>> routes;

    bool empty() const { return acts.empty(); }
};

}  // namespace syncline

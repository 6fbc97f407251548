#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sim/replay/lanes.hpp"
#include "sim/replay/trace.hpp"
#include "sim/replay/wires.hpp"

/// Writes a Trace while lanes act. The two sides of a connection are matched in order: the n-th put and the n-th get
/// are one message.
namespace syncline {

class Recorder {
public:
    /// One direction between two processes, of one channel.
    struct Connection {
        std::vector<MessageId> waiting;  ///< matched messages, then those whose other side has not arrived yet
        std::size_t met = 0;
        bool put = false;  ///< their receivers have not arrived
        std::uint32_t route = 0;
    };
    struct Side {
        TaskId task = 0;
        LaneId lane = 0;
        std::uint32_t iteration = 0;
        double now_s = 0;
    };

    Recorder(Trace& trace, Wires& wires, const Lanes& lanes) : trace_(trace), wires_(wires) {
        trace_.acts.resize(lanes.count());
        trace_.stream_of_lane = lanes.streams();
        trace_.latency_travels = wires.latency_travels();
    }

    /// Returns a connection, whose address does not change.
    Connection& connection(std::uint32_t channel, ProcessId from, ProcessId to);

    MessageId put(Connection& connection, const Side& sender, std::uint64_t bytes, const Meeting& meeting);
    MessageId got(Connection& connection, const Side& receiver);
    void through(MessageId message, double through_s, double latency_s);
    /// Records the path of a message, if it was not known before.
    void took(MessageId message, const std::vector<std::uint32_t>& links) {
        trace_.messages[message].route = route(links);
    }

    /// Records an act, unless it took no time.
    void acted(LaneId lane, const Act& act) {
        if (act.end_s > act.start_s) trace_.acts[lane].push_back(act);
    }

    /// Adds the names of the links.
    void finish() { trace_.links = wires_.traced(); }

private:
    /// Returns the number of a route in the trace.
    std::uint32_t route(const std::vector<std::uint32_t>& links);

    Trace& trace_;
    Wires& wires_;
    std::map<std::tuple<std::uint32_t, ProcessId, ProcessId>, Connection> connections_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> routes_;
};

}  // namespace syncline

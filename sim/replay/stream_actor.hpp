#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>

#include "sim/replay/session.hpp"

/// The actor that runs one stream: its tasks in order, or by priority, iteration by iteration.
namespace syncline {

class StreamActor {
public:
    StreamActor(Session& session, StreamId stream) : session_(session), stream_(stream) {}

    void run();

private:
    /// One direction of a connection to another process.
    struct Peer {
        simgrid::s4u::Mailbox* mailbox = nullptr;
        double latency_s = 0;     ///< of a message, beside what SimGrid adds
        bool weightless = false;  ///< its bytes take no time
        std::uint64_t bytes = 0;  ///< sent in the measured iteration
    };

    /// The connections of a step's messages, looked up once and used in every repetition.
    struct Ports {
        std::vector<Peer*> out, in;
    };

    void run_exchange(const Task& task);
    /// The step at which `walk` is.
    void run_step(const Walk& walk, const Ports& ports, const Partition& partition, const Exchange& exchange);
    /// Seconds until the last of the pending messages, whose bytes are all through, has had its latency.
    double rest_of_latency(const Ports& ports) const;
    /// The connection of `exchange` with process `other`.
    Peer& peer(const Exchange& exchange, ProcessId other, bool outwards);
    void report_bytes();

    Session& session_;
    const StreamId stream_;
    std::uint32_t iteration_ = 0;

    std::vector<Ports> ports_;  // by step of the program that is run
    std::vector<simgrid::s4u::CommPtr> pending_;
    std::unordered_map<std::uint64_t, Peer> peers_;
};

}  // namespace syncline

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <simgrid/s4u/Comm.hpp>
#include <simgrid/s4u/Mailbox.hpp>

#include "sim/replay/session.hpp"

/// The actor that runs one stream: its tasks in order, iteration by iteration.
namespace syncline {

class StreamActor {
public:
    StreamActor(Session& session, StreamId stream) : session_(session), stream_(stream) {}

    void run();

private:
    void run_exchange(const Task& task);
    void run_step(const Step& step, const Partition& partition, const Exchange& exchange);
    /// Whether bytes take no time from one process to the other: within a node whose loopback is unlimited, and
    /// everywhere in the Constant network model.
    bool weightless(ProcessId from, ProcessId to) const;
    /// Where messages of `exchange` from process `from` to process `to` meet.
    simgrid::s4u::Mailbox* mailbox(const Exchange& exchange, ProcessId from, ProcessId to);

    Session& session_;
    const StreamId stream_;
    std::uint32_t iteration_ = 0;

    /// One end of a step's message, looked up once and used in every repetition.
    struct Port {
        simgrid::s4u::Mailbox* mailbox;
        std::uint32_t block;
        bool weightless;  ///< its bytes take no time
    };
    std::vector<Port> out_, in_;
    std::vector<simgrid::s4u::CommPtr> pending_;
    std::unordered_map<std::uint64_t, simgrid::s4u::Mailbox*> mailboxes_;
};

}  // namespace syncline

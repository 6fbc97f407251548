#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/replay/lane_replay.hpp"
#include "sim/replay/session.hpp"

/// The program of one stream: its tasks in order, or by priority, iteration by iteration.
///
/// In an exchange all lanes start together, after the collective's launch and the copy of the buffer that a transport
/// may make; the exchange ends when the last of them has.
///
/// A trace of a million nodes may have a stream for each message, most of which wait or have ended: a stream's only
/// lane is there from its first exchange to the end of its tasks.
namespace syncline {

class StreamReplay {
public:
    StreamReplay(Session& session, StreamId stream);

    Coroutine<> run();
    /// Returns the program of each further lane.
    std::vector<Coroutine<>> further();
    /// Returns the step that the stream is at in its exchange, and its repetition, in its first lane.
    std::pair<std::uint32_t, std::uint32_t> at() const {
        return lanes_.empty() ? std::pair{0u, 0u} : lanes_.front()->at();
    }
    /// Reports the bytes sent in the measured iterations to the session, at the end.
    void report_bytes();

private:
    Coroutine<> run_exchange(TaskId id, std::uint32_t iteration);

    Session& session_;
    const StreamId stream_;
    const ProcessId process_;
    Simulator& simulator_;
    std::vector<std::unique_ptr<LaneReplay>> lanes_;  ///< if there is one, it is there only while it is needed
};

}  // namespace syncline

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <simgrid/s4u/Host.hpp>
#include <simgrid/s4u/Semaphore.hpp>

#include "sim/replay/replay.hpp"

/// What the actors of one simulation share. SimGrid runs one actor at a time, so nothing here needs a lock.
namespace syncline {

class Session {
public:
    Session(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options);

    /// Puts the calling actor, of `stream`, to sleep until `task` has ended in iteration `iteration`.
    void await(StreamId stream, TaskId task, std::uint32_t iteration);
    void started(TaskId task, std::uint32_t iteration, double now_s);
    void ended(TaskId task, std::uint32_t iteration, double now_s);
    void sent(std::uint32_t iteration, std::uint64_t messages, std::uint64_t bytes);

    /// The tasks at which streams stand that have not come to their end, in words.
    std::string stuck() const;

    const Cluster& cluster;
    const TaskGraph& graph;
    const std::uint32_t iterations;
    Timeline timeline;

private:
    static constexpr StreamId nobody = ~StreamId{0};

    struct Waiter {
        simgrid::s4u::SemaphorePtr wake;
        StreamId next = nobody;  ///< another stream that waits for the same task
    };

    Interval* interval(TaskId task, std::uint32_t iteration);

    const ReplayOptions& options_;
    std::vector<std::uint32_t> ended_;    ///< by task: iterations it has ended in
    std::vector<StreamId> first_waiter_;  ///< by task
    std::vector<Waiter> waiters_;         ///< by stream
    std::uint64_t messages_ = 0;
    std::uint64_t next_report_ = 0;
};

}  // namespace syncline

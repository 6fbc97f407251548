#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Replays a task graph on a cluster, message by message, on SimGrid.
///
/// One actor per stream. It takes the stream's tasks in order, or as the streams of its queue agree (agreement.hpp),
/// waits for what each depends on, and either sleeps for the task's seconds or runs its member's program of a
/// collective. A message is a put and a get in a mailbox: it starts when both sides have come to it, shares its links
/// with whatever else is on them, and then both sides wait for its route's latency.
///
/// SimGrid allows one simulation per process; this folder is the only one that knows it.
namespace syncline {

/// A simulation that could not go on.
class ReplayError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Progress {
    std::uint64_t messages = 0;  ///< put so far, over all iterations
    double simulated_s = 0;
};

struct ReplayOptions {
    std::uint32_t iterations = 1;  ///< replayed, one after the other ...
    std::uint32_t measured = 0;    ///< ... which of them is the last that is measured, ...
    std::uint32_t window = 1;      ///< ... and how many: what is counted is their mean
    bool messages = false;         ///< record what each message does, too: see trace.hpp
    bool contention = true;        ///< else every message has each link for itself
    bool fold = false;             ///< simulate what repeats once (folding.hpp); not where messages are recorded
    /// But not exchanges of these channels, whose rings are disturbed while they are folded.
    std::vector<std::uint32_t> unfolded = {};
    /// Called every few thousand messages.
    std::function<void(const Progress&)> progress = {};
};

/// Throws std::logic_error when called a second time in a process, and on a deadlock, naming streams and tasks that are
/// stuck: whoever made the graph is to blame, not the user. Throws Disturbed (folding.hpp) where folding was wrong.
Timeline replay(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options);

/// The same in a process of its own, as often as one likes, and again with less folding where that was wrong. Throws
/// ReplayError if that process dies.
Timeline replay_isolated(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options);

}  // namespace syncline

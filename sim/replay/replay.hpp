#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "sim/base/replay_error.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Replays a task graph on a cluster, message by message.
///
/// There is one program per stream (stream_replay.hpp). It executes the stream's tasks in order, or as the streams of
/// its queue agree (agreement.hpp), waits for the dependencies of each, and either sleeps for the task's seconds or
/// runs its member's program of a collective. A message starts when both its sides have arrived, shares its links with
/// all other traffic on them, and then its receiver, or both sides (Latency in cluster.hpp), wait for its route's
/// latency. Programs run in a Simulator (simulator.hpp): with the exact model on our solver, with SimGrid's models as
/// its actors.
///
/// SimGrid allows one simulation per process; the replay reaches it through engine.hpp.
namespace syncline {

class Symmetry;

struct Progress {
    std::uint64_t messages = 0;  ///< put so far, over all iterations
    double simulated_s = 0;
};

/// How one part of a graph (TaskGraph::append) is replayed.
struct PartReplay {
    static constexpr std::uint32_t endless = ~std::uint32_t{0};  ///< of a part in the background

    std::uint32_t iterations = 1;
    double start_s = 0;       ///< before which none of its streams does anything
    bool background = false;  ///< the replay ends when all other parts have ended
    std::string name = {};    ///< for errors: that of the job
};

struct ReplayOptions {
    std::uint32_t iterations = 1;  ///< number replayed, one after the other ...
    std::uint32_t measured = 0;    ///< ... the last measured one among them, ...
    std::uint32_t averaged = 1;    ///< ... and the number of measured ones: counters are their mean
    bool messages = false;         ///< also record every message: see trace.hpp
    /// By part, in place of the three above, of a graph of parts: then the last iteration of each part is the measured
    /// one, all are recorded, and counters are sums over all. With `fold` all parts have as many iterations and none is
    /// in the background; iterations of all together may be found to repeat, and counters are those of one.
    std::vector<PartReplay> parts = {};
    bool contention = true;  ///< if false, every message has each link for itself
    /// An oracle for tests, for latency that blocks: leaves messages to SimGrid even with the exact model, and to one
    /// of its two solvers.
    enum class Oracle { none, lazy, full } oracle = Oracle::none;
    bool fold = false;                   ///< simulate what repeats once; not with `messages`
    bool average = false;                ///< with `fold`, of a graph with representatives only: see symmetry.hpp
    const Symmetry* symmetry = nullptr;  ///< with `fold`: of the graph, if it is known
    /// Describes a task at which a deadlock has left a stream; empty: nothing to say. Default:
    /// its process, its phase and its step.
    std::function<std::string(TaskId)> described = {};
    /// Called every few thousand messages.
    std::function<void(const Progress&)> progress = {};
};

/// Returns whether the replay needs SimGrid: for its network models, its format, or as an oracle.
bool needs_simgrid(const Cluster& cluster, const ReplayOptions& options);

/// Replays the graph; of one with representatives only, with `fold`. Throws std::logic_error when called a second time
/// in a process, and on a deadlock, naming the stuck streams and tasks: the fault is in the graph, not in the user's
/// input. Throws ReplayError if a fault of the cluster never ends and nothing continues, naming who waits for what.
Timeline replay(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options);

/// Does the same in a separate process, any number of times. Throws ReplayError if that process dies.
Timeline replay_isolated(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options);

}  // namespace syncline

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "sim/replay/simulator.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Order in which the streams of a queue execute their tasks: see TaskGraph::take_by_priority.
///
/// The agreement itself takes no time and no messages; it is the decision of an ideal coordinator that knows at every
/// instant which tasks are ready on which stream.
namespace syncline {

class Agreement {
public:
    /// `iterations`: how many there are.
    Agreement(const TaskGraph& graph, Simulator& simulator, std::uint32_t iterations);

    /// Returns the task that `stream`, which is in a queue, executes as its `position`-th one of iteration `iteration`,
    /// counted from 0, as soon as there is one.
    Coroutine<TaskId> next(StreamId stream, std::uint32_t iteration, std::uint32_t position);

    /// Records that `task` has ended in iteration `iteration`.
    void ended(TaskId task, std::uint32_t iteration);

private:
    /// One iteration of a queue.
    struct Round {
        std::vector<std::uint32_t> missing;   ///< by item: dependencies, of all streams together, that have not ended
        std::vector<bool> taken;              ///< by item
        std::vector<std::uint32_t> sequence;  ///< items in the order in which they are taken
        std::uint32_t through = 0;            ///< streams that have taken all items
    };

    /// The i-th tasks of a queue's streams are its item i.
    struct Queue {
        std::vector<std::uint32_t> order;  ///< items, the most urgent first
        /// By distance in iterations, and by item: the number of dependencies.
        std::map<std::uint32_t, std::vector<std::uint32_t>> dependencies;
        std::deque<Round> rounds;       ///< rounds that streams are in, or that tasks have ended in
        std::uint32_t first_round = 0;  ///< the number of the first of them
        std::vector<StreamId> asleep;
    };

    struct Dependent {
        QueueId queue = 0;
        std::uint32_t item = 0;
        std::uint32_t distance = 0;
    };

    static Round& round(Queue& queue, std::uint32_t iteration);
    /// Takes the next ready item and returns true; false if there is none.
    static bool choose(const Queue& queue, Round& round);

    const TaskGraph& graph_;
    Simulator& simulator_;
    const std::uint32_t iterations_;
    std::vector<Queue> queues_;
    std::vector<std::vector<Dependent>> dependents_;  ///< by task; empty without queues
};

}  // namespace syncline

#include "sim/replay/agreement.hpp"

#include <algorithm>
#include <numeric>

namespace syncline {

Agreement::Agreement(const TaskGraph& graph, Simulator& simulator, std::uint32_t iterations)
    : graph_(graph), simulator_(simulator), iterations_(iterations), queues_(graph.queues().size()) {
    if (queues_.empty()) return;
    dependents_.resize(graph.tasks().size());
    for (QueueId id = 0; id < queues_.size(); ++id) {
        Queue& queue = queues_[id];
        const std::span<const TaskId> first = graph.tasks_of(graph.queues()[id].front());
        queue.order.resize(first.size());
        std::iota(queue.order.begin(), queue.order.end(), 0);
        std::stable_sort(queue.order.begin(), queue.order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return graph.tasks()[first[a]].priority < graph.tasks()[first[b]].priority;
        });
        for (const StreamId stream : graph.queues()[id]) {
            const std::span<const TaskId> tasks = graph.tasks_of(stream);
            for (std::uint32_t item = 0; item < tasks.size(); ++item) {
                for (const Dependency& dependency : graph.dependencies_of(tasks[item])) {
                    dependents_[dependency.on].push_back({id, item, dependency.distance});
                    std::vector<std::uint32_t>& counts = queue.dependencies[dependency.distance];
                    counts.resize(first.size(), 0);
                    ++counts[item];
                }
            }
        }
    }
}

Agreement::Round& Agreement::round(Queue& queue, std::uint32_t iteration) {
    while (queue.first_round + queue.rounds.size() <= iteration) {
        const std::size_t number = queue.first_round + queue.rounds.size();
        Round& added = queue.rounds.emplace_back();
        added.missing.resize(queue.order.size(), 0);
        added.taken.resize(queue.order.size(), false);
        for (const auto& [distance, counts] : queue.dependencies) {
            if (distance > number) break;  // there is no such iteration
            for (std::size_t item = 0; item < queue.order.size(); ++item) added.missing[item] += counts[item];
        }
    }
    return queue.rounds[iteration - queue.first_round];
}

bool Agreement::choose(const Queue& queue, Round& round) {
    const auto item = std::find_if(queue.order.begin(), queue.order.end(),
                                   [&](std::uint32_t i) { return !round.taken[i] && round.missing[i] == 0; });
    if (item == queue.order.end()) return false;
    round.taken[*item] = true;
    round.sequence.push_back(*item);
    return true;
}

Coroutine<TaskId> Agreement::next(StreamId stream, std::uint32_t iteration, std::uint32_t position) {
    Queue& queue = queues_[graph_.streams()[stream].queue];
    // Rounds are added and removed while this stream sleeps, but its own round stays.
    while (round(queue, iteration).sequence.size() <= position) {
        // Tasks that end at this very instant count as ready: let the streams run that have ended one.
        co_await simulator_.yield(stream);
        Round& now = round(queue, iteration);
        if (now.sequence.size() > position || choose(queue, now)) break;
        queue.asleep.push_back(stream);
        co_await simulator_.park(stream);
    }
    const std::span<const TaskId> tasks = graph_.tasks_of(stream);
    Round& own = round(queue, iteration);
    const TaskId task = tasks[own.sequence[position]];
    if (position + 1 == tasks.size() && ++own.through == graph_.queues()[graph_.streams()[stream].queue].size()) {
        queue.rounds.pop_front();
        ++queue.first_round;
    }
    co_return task;
}

void Agreement::ended(TaskId task, std::uint32_t iteration) {
    if (queues_.empty()) return;
    std::vector<StreamId> waking;
    for (const Dependent& dependent : dependents_[task]) {
        Queue& queue = queues_[dependent.queue];
        if (dependent.distance > iterations_ - iteration) continue;
        if (--round(queue, iteration + dependent.distance).missing[dependent.item] > 0) continue;
        waking.insert(waking.end(), queue.asleep.begin(), queue.asleep.end());
        queue.asleep.clear();
    }
    if (waking.empty()) return;
    // Tasks that end at this very instant count as ready, such as the other releases of a tick: they wake before
    // simulated time advances, after all others have run.
    simulator_.at_end_of_instant([this, waking] {
        for (const StreamId stream : waking) simulator_.unpark(stream);
    });
}

}  // namespace syncline

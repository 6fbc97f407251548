#include "sim/replay/steady.hpp"

#include <algorithm>

namespace syncline {

bool iterations_alike(const TaskGraph& graph) {
    return !graph.lateness().varies() && !graph.varies() && graph.largest_distance() <= 1 &&
           std::ranges::none_of(graph.processes(), [](const Process& process) { return process.pace.varies(); }) &&
           std::ranges::all_of(graph.tasks(), [&](const Task& task) {
               return task.exchange == Task::no_exchange || graph.exchange(task.exchange).algorithm->period() == 1;
           });
}

Steady::Round& Steady::round(std::uint32_t iteration) {
    while (iteration >= first_round_ + rounds_.size()) rounds_.emplace_back();
    return rounds_[iteration - first_round_];
}

void Steady::differs(Round& round, double seconds) {
    round.shortest_s = std::min(round.shortest_s, seconds);
    round.longest_s = std::max(round.longest_s, seconds);
}

void Steady::started(TaskId task, std::uint32_t iteration, double now_s) {
    History& history = tasks_[task];
    history[iteration % history.size()] = {iteration, {now_s, now_s}};
}

bool Steady::ended(TaskId task, std::uint32_t iteration, double now_s) {
    History& history = tasks_[task];
    Seen& seen = history[iteration % history.size()];
    seen.interval.end_s = now_s;
    Round& round = this->round(iteration);
    if (iteration > 0) {
        const Seen& before = history[(iteration - 1) % history.size()];
        differs(round, seen.interval.start_s - before.interval.start_s);
        differs(round, seen.interval.end_s - before.interval.end_s);
    }
    // Iterations end in order, because every task does.
    if (++round.ended < simulated_) return false;
    const Round all = round;
    rounds_.pop_front();
    ++first_round_;
    if (iteration == 0 || all.longest_s - all.shortest_s > 1e-9 * all.longest_s) return false;
    // A task may be so far ahead that its record is overwritten.
    if (std::any_of(tasks_.begin(), tasks_.end(), [&](const History& of) {
            const Seen& last = of[iteration % of.size()];
            return last.iteration != iteration && last.iteration != never;
        }))
        return false;
    period_s_ = all.longest_s;
    spread_s_ = all.longest_s - all.shortest_s;
    return true;
}

std::vector<Interval> Steady::intervals(std::uint32_t iteration) const {
    std::vector<Interval> result;
    for (const History& history : tasks_) result.push_back(history[iteration % history.size()].interval);
    return result;
}

}  // namespace syncline

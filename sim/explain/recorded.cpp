#include "sim/explain/recorded.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace syncline {

Recorded::Recorded(const ReplayedIteration& replayed)
    : replayed_(replayed),
      first_(replayed.measured + 1 - static_cast<std::uint32_t>(replayed.timeline.recorded.size())),
      update_(syncline::last_update(replayed.graph, replayed.timeline)),
      window_(window_of(replayed.timeline, update_, replayed.averaged)),
      meeting_of_(replayed.graph.tasks().size(), 0) {
    std::map<std::pair<ExchangeId, std::uint32_t>, std::uint32_t> times;  // number of executions by each member
    std::map<std::pair<ExchangeId, std::uint32_t>, std::uint32_t> number;
    for (TaskId id = 0; id < replayed.graph.tasks().size(); ++id) {
        const Task& task = replayed.graph.tasks()[id];
        if (task.exchange == Task::no_exchange) continue;
        const std::uint32_t time = times[{task.exchange, task.member}]++;
        const auto [found, added] =
            number.try_emplace({task.exchange, time}, static_cast<std::uint32_t>(meetings_.size()));
        if (added) meetings_.emplace_back();
        meetings_[found->second].push_back(id);
        meeting_of_[id] = found->second;
    }
}

std::vector<Interval> Recorded::own_windows() const {
    std::vector<Interval> windows(graph().processes().size(), window_);
    // From a standing start no rank continues before the last one has ended.
    if (replayed_.averaged > last_iteration() - first_) return windows;
    for (TaskId task = 0; task < graph().tasks().size(); ++task)
        if (graph().tasks()[task].phase == Phase::update)
            windows[process_of(task)] = window_of(timeline(), task, replayed_.averaged);
    return windows;
}

Interval Recorded::clipped(const Interval& interval) const {
    return {std::clamp(interval.start_s, window_.start_s, window_.end_s),
            std::clamp(interval.end_s, window_.start_s, window_.end_s)};
}

}  // namespace syncline

#include "sim/analysis/activity.hpp"

#include <map>
#include <vector>

#include "sim/analysis/breakdown.hpp"

namespace syncline {

namespace {

/// What a rank does in the recorded iterations that may reach into the measured ones.
struct RankIntervals {
    std::vector<Interval> computing, exchanging;
};

bool works_on_host(const Stream& stream) {
    return stream.kind == StreamKind::aggregate || stream.kind == StreamKind::host;
}

}  // namespace

Activity activity_of(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period) {
    std::vector<RankIntervals> ranks(graph.processes().size());
    std::map<std::uint32_t, std::vector<Interval>> hosts;  // by node
    std::vector<TaskId> updates(graph.processes().size(), no_task);
    for (std::size_t before = 0; before < reaching(graph, timeline, period); ++before) {
        const std::vector<Interval>& recorded = timeline.recorded[timeline.recorded.size() - 1 - before];
        for (TaskId id = 0; id < graph.tasks().size(); ++id) {
            const Task& task = graph.tasks()[id];
            const Stream& stream = graph.streams()[task.stream];
            RankIntervals& rank = ranks[stream.process];
            if (task.phase == Phase::update) updates[stream.process] = id;
            if (stream.kind == StreamKind::compute) rank.computing.push_back(recorded[id]);
            if (task.exchange != Task::no_exchange && stream.kind != StreamKind::receive)
                rank.exchanging.push_back(recorded[id]);
            if (works_on_host(stream)) hosts[graph.processes()[stream.process].place.node].push_back(recorded[id]);
        }
    }
    Activity activity;
    for (ProcessId process = 0; process < ranks.size(); ++process) {
        if (updates[process] == no_task) continue;  // a server, or a rank that is not built
        const Interval window = window_of(timeline, updates[process], period);
        const auto computing = merged(clipped(std::move(ranks[process].computing), window));
        const auto exchanging = merged(clipped(std::move(ranks[process].exchanging), window));
        activity.compute_s += length_s(computing);
        activity.exposed_communication_s += length_s(exchanging) - overlap_s(computing, exchanging);
    }
    const Interval window = window_of(timeline, last_update(graph, timeline), period);
    for (auto& [node, working] : hosts) activity.host_s += length_s(merged(clipped(std::move(working), window)));
    const double times = static_cast<double>(graph.images()) / period;
    for (double Activity::*const seconds :
         {&Activity::compute_s, &Activity::exposed_communication_s, &Activity::host_s})
        activity.*seconds *= times;
    return activity;
}

}  // namespace syncline

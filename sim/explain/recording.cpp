#include "sim/explain/recording.hpp"

#include <utility>

namespace syncline {

void add_recording(Explanation& explanation, const Recorded& recorded, const TaskNames& names, const Cluster& cluster,
                   std::uint32_t ranks) {
    explanation.iterations = recorded.iterations();
    explanation.window_s = recorded.window().end_s - recorded.window().start_s;
    explanation.last_rank = recorded.last_rank();
    explanation.ranks = rank_parts(recorded, ranks);
    explanation.buckets = bucket_parts(recorded, recorded.last_rank(), names);
    explanation.path = critical_path(recorded, names);
    explanation.shares = shares_of(explanation.path, explanation.window_s);
    explanation.phases = phases_of(explanation.path, explanation.window_s);
    explanation.path = joined(explanation.path);
    explanation.links = link_parts(recorded, names, cluster);
}

void hand_over(ReplayedIteration& replayed, const Interval& window, const TaskNames& names, TimelineView& view) {
    view.names = names.of(replayed.graph);
    view.window = window;
    view.iteration = replayed.measured;
    view.graph = std::move(replayed.graph);
    view.timeline = std::move(replayed.timeline);
}

}  // namespace syncline

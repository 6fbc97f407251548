#pragma once

#include <optional>
#include <vector>

#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Where the time of one steady iteration goes, on the rank that finishes last.
///
/// A rank's iteration lasts from the end of its update in the iteration before to the end of its update in this one;
/// what is computed and exchanged in that time counts, also if it belongs to the iteration before, whose exchanges
/// reach into this one with Overlap::across_iterations. Communication is when at least one exchange is under way,
/// waiting for its peers included; it is exposed while the compute stream is idle.
///
/// The rest of the time nothing is computed and no exchange of the rank is under way. The rank waits as long as its
/// next computation depends on a task that has not ended: a push of other ranks, a sum on a server, a release of a
/// fusion cycle, a copy of the input, a pass of another stage. Otherwise it is idle: that computation could begin. No
/// rank that is replayed leaves a computation lying that could begin, so idle time is 0 unless a recording is wrong.
/// For every rank and window
///     iteration = compute + exposed communication + waiting + idle.
///
/// The bubble of a pipeline is the part of the time, each rank's own iteration, in which a rank neither computes nor
/// exchanges anything within its stage nor sends to another one: it waits for other stages. Mean over all ranks.
namespace syncline {

struct Breakdown {
    double iteration_s = 0;
    double compute_s = 0;
    double communication_s = 0;
    double exposed_communication_s = 0;
    double waiting_s = 0;
    double idle_s = 0;
    std::optional<double> pipeline_bubble = std::nullopt;  ///< nothing without stages, or time
    /// How far its length is from that of the iteration before, as a part of it; 0 if there are too few.
    double drift = 0;
    /// Of the mean of several iterations: the standard deviation of their lengths over the root of how many they are,
    /// as a part of it; 0 if there are too few.
    double standard_error = 0;
};

/// Of the iteration that `timeline` measured, which is not its first; where exchanges are alike only every `period`
/// iterations, the mean of the last so many.
Breakdown measure(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period = 1);

/// The update that ends the iteration of the rank that ends last.
TaskId last_update(const TaskGraph& graph, const Timeline& timeline);
/// From the end of a rank's update so many iterations ago, or the start of the simulation, to that of its last one.
Interval window_of(const Timeline& timeline, TaskId update, std::uint32_t period);

/// The same instants, as intervals that neither touch nor overlap, in order.
std::vector<Interval> merged(std::vector<Interval> intervals);
double length_s(const std::vector<Interval>& intervals);

}  // namespace syncline

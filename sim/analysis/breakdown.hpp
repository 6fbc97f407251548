#pragma once

#include <optional>
#include <vector>

#include "sim/analysis/activity.hpp"
#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Time breakdown of a steady iteration on the rank that finishes last, from the end of its previous update to the end
/// of its current one.
///
/// All computation and exchanges in that time count, also those of previous iterations (Overlap::across_iterations,
/// Plan::exchange_delay). Communication is the time in which an exchange is in flight, including waiting for peers; it
/// is exposed while the compute stream is idle. Otherwise the rank waits while its next computation depends on a task
/// that has not ended (a push of other ranks, a server, a fusion cycle, a copy of the input, another stage), or is
/// idle, which is 0 unless a recording is wrong. For every rank and window
///     iteration = compute + exposed communication + waiting + idle.
/// The pipeline bubble is the mean, over all ranks, of the fraction of an iteration in which a rank neither computes,
/// nor exchanges data within its stage, nor sends to another stage.
namespace syncline {

struct Breakdown {
    double iteration_s = 0;
    double compute_s = 0;
    double communication_s = 0;
    double exposed_communication_s = 0;
    double waiting_s = 0;
    double idle_s = 0;
    double exchanges_s = 0;  ///< from the first start to the last end of the iteration's exchanges, on any process
    /// The longest times for which any process computes, adds up data as a parameter server, and copies between device
    /// and host.
    double longest_compute_s = 0, longest_reduction_s = 0, longest_copies_s = 0;
    double longest_load_s = 0;  ///< and reads input from the storage
    /// Longest time for which a rank waits for its input after the iteration before; empty unless input is read.
    std::optional<double> input_wait_s = std::nullopt;
    std::optional<double> pipeline_bubble = std::nullopt;  ///< empty without stages, or if no time passes
    std::optional<Activity> activity = std::nullopt;       ///< of all ranks; only if their energy is asked for
    /// Relative difference in length to the previous iteration (with a period, to the previous window); 0 if too few
    /// iterations were recorded.
    double drift = 0;
    /// Relative standard error of the mean over several iterations: the standard deviation of their lengths divided by
    /// the square root of their number and by the mean; 0 if there are too few.
    double standard_error = 0;

    /// Returns the time in which `links` carry the bytes of an iteration: that of the iteration, even if its exchanges
    /// reach into others, since in steady state those of others reach into it. If a link cannot carry them in that
    /// time, as with Overlap::across_iterations from a standing start, it is that of the exchanges from first to last.
    double sending_s(const std::vector<LinkUse>& links) const;
};

/// Returns the breakdown of the iteration that `timeline` measured, which is not its first. If exchanges repeat only
/// after `period` iterations, returns the mean over the last `period` iterations.
Breakdown measure(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period = 1);

/// Returns the tasks of each process, in the order of their numbers.
std::vector<std::vector<TaskId>> tasks_by_process(const TaskGraph& graph);

/// Returns the times of compute, communication and waiting of the rank with this update and these tasks in `window`,
/// divided by `iterations`. Looked at are the last `period` recorded iterations, and those that may reach into them.
Breakdown parts_of(const TaskGraph& graph, const Timeline& timeline, TaskId update,
                   const std::vector<TaskId>& tasks_of_rank, const Interval& window, std::uint32_t period,
                   std::uint32_t iterations);

/// Returns by how much more than the last update the end of some exchange advances in the last `period` iterations,
/// relative to the update: above 0 while exchanges fall behind the iterations, which do not wait for them yet. 0 if too
/// few iterations were recorded.
double falling_behind(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period);

/// Adds Breakdown::exchanges_s and the longest times of any process to a breakdown of the last `period` iterations.
void add_extremes(Breakdown& breakdown, const TaskGraph& graph, const Timeline& timeline, std::uint32_t period);

/// Returns the update that ends the iteration of the rank that finishes last.
TaskId last_update(const TaskGraph& graph, const Timeline& timeline);
/// Returns the times of all recorded iterations on the rank that finishes last, if the first of them starts with the
/// simulation.
std::vector<double> iteration_times_s(const TaskGraph& graph, const Timeline& timeline);
/// Returns the window from the end of a rank's update `period` iterations ago, or the start of the simulation, to the
/// end of its last update.
Interval window_of(const Timeline& timeline, TaskId update, std::uint32_t period);

/// Returns a part of a time that is a difference of sums; 0 if it is within their rounding errors, or below 0.
constexpr double beyond_rounding(double part_s, double whole_s) {
    return part_s > 1e-9 * whole_s ? part_s : 0;
}

/// Returns the intervals in which a compute stream waits for a dependency (see Breakdown::waiting_s), in the last
/// `period` iterations. Other streams of the rank are ignored.
std::vector<Interval> dependency_waits(const TaskGraph& graph, const Timeline& timeline, StreamId compute,
                                       std::uint32_t period);

/// Returns the union of the intervals as disjoint intervals in order of time.
std::vector<Interval> merged(std::vector<Interval> intervals);
double length_s(const std::vector<Interval>& intervals);
/// Returns the time in which disjoint intervals of both lists are active concurrently.
double overlap_s(const std::vector<Interval>& a, const std::vector<Interval>& b);
/// Returns the part of each interval that lies in `window`.
std::vector<Interval> clipped(std::vector<Interval> intervals, const Interval& window);
/// Returns the number of recorded iterations to look at: `period`, and the previous ones that may reach into them.
std::size_t reaching(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period);

}  // namespace syncline

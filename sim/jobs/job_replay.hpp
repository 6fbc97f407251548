#pragma once

#include <cstdint>
#include <vector>

#include "sim/analysis/activity.hpp"
#include "sim/analysis/observed.hpp"
#include "sim/plan/jobs_plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/replay/replay.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Replays of jobs at their places: one alone, or several together, each from its start to its end.
namespace syncline {

/// A job that has devices.
struct PlacedJob {
    const JobPlan* plan = nullptr;
    std::vector<std::int64_t> devices;  ///< by rank
    double start_s = 0;
    std::uint32_t iterations = 1;
    TaskGraph graph = {};  ///< of one iteration
};

/// What a job did in a replay, in all its iterations together.
struct JobRun {
    double end_s = 0;
    Activity activity = {};        ///< of all ranks; its host_s counts each server and processor by itself
    double longest_compute_s = 0;  ///< of the rank that computes most
    std::uint64_t bytes_sent = 0;
    std::vector<LinkUse> links = {};  ///< with bytes; of a job alone
};

/// Gives a job these devices, and its plan's iterations. Throws ReplayError if it cannot run on them.
PlacedJob place_job(const Cluster& cluster, const JobPlan& plan, std::vector<std::int64_t> devices, double start_s);

/// Returns the time of a job's second iteration from a standing start, if it has the cluster for itself.
double iteration_alone_s(const Cluster& cluster, PlacedJob job, const Watch& watch);

/// Replays a job that has the cluster for itself, from its start. It is folded where its fidelity says so, and where
/// all its iterations are alike.
JobRun replay_alone(const Cluster& cluster, const PlacedJob& job, const Watch& watch);

/// A replay of several jobs: one part of the graph for each, then one for each of `traffic`.
struct SharedReplay {
    TaskGraph graph;
    Timeline timeline;
    std::vector<JobRun> runs;    ///< by job
    std::vector<LinkUse> links;  ///< with the bytes of all jobs and other traffic, in all iterations
};

struct TogetherOptions {
    bool record = false;                                  ///< all messages
    std::uint32_t most_iterations = PartReplay::endless;  ///< only the first ones of each job
};

/// Replays jobs together, with other traffic until the last of them ends. If all jobs may be folded and have equally
/// many iterations, these are simulated until those of all jobs together repeat; then so do the rest, but for the last
/// iteration of those that end later than others.
SharedReplay replay_together(const Cluster& cluster, const std::vector<const PlacedJob*>& jobs,
                             const std::vector<TrafficPlan>& traffic, const TogetherOptions& how, const Watch& watch);

}  // namespace syncline

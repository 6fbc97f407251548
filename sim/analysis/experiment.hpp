#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/breakdown.hpp"
#include "sim/analysis/cost.hpp"
#include "sim/analysis/energy.hpp"
#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/jobs_result.hpp"
#include "sim/analysis/observed.hpp"
#include "sim/analysis/theory.hpp"
#include "sim/analysis/utilisation.hpp"
#include "sim/analysis/work_balance.hpp"
#include "sim/analysis/worker_updates.hpp"
#include "sim/base/spread.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Simulation of a training iteration.
namespace syncline {

/// Ranks of several kinds: see RankKind.
struct KindsResult {
    std::string devices;                               ///< devices_text()
    std::int64_t least_samples = 0, most_samples = 0;  ///< of a rank, in an iteration
    /// Planned computation of a rank in an iteration, with the optimizer's step: of the fastest and the slowest.
    double least_compute_s = 0, most_compute_s = 0;
};

/// Result of one variant. Times refer to the rank that finishes last; counts refer to one iteration.
struct Result {
    std::string variant;
    std::string workload;
    std::int64_t ranks = 0;
    std::int64_t samples = 0;                  ///< total of all ranks
    std::string fabric;                        ///< shape of the fabric, or file of the native platform
    std::string transport;                     ///< name; empty without a transport
    std::string exchange, algorithm, overlay;  ///< names as in files; empty if there is none
    Parallelism parallelism;
    std::string choice_of;     ///< variant of which this is one grid (`model: auto`); empty if none
    std::optional<bool> best;  ///< set for such grids: see mark_best()
    Breakdown time;
    /// Of each iteration, on the rank that finishes the last one last; only with faults, which change some of them.
    /// Then `time` has the mean.
    std::vector<double> iteration_times_s = {};
    /// Iteration times in seconds with several seeds, of which `time` has the first; empty with one seed.
    std::optional<Spread> repeated;
    /// Expected computation time of the slowest rank in an iteration (see slowest.hpp), and the same in units of the
    /// longest planned one; empty without jitter of the computation.
    std::optional<double> expected_slowest_s, expected_slowest_factor;
    std::optional<WorkBalance> balance = {};  ///< set if the plan has documents
    /// Empty if the iteration takes no time.
    std::optional<double> throughput_samples_per_s;
    Scaling scaling = Scaling::weak;
    /// See scaling.hpp. Empty if one rank cannot hold the model, or if an iteration takes no time; a note says so.
    std::optional<double> scaling_efficiency;
    /// Share of the time in which a rank computes, where a plan lets ranks wait less: Plan::relaxed().
    std::optional<double> busy_share;
    std::optional<KindsResult> kinds;      ///< set if there are several kinds of ranks
    std::optional<WorkerUpdates> updates;  ///< set if each worker's gradients are an update of their own
    Utilisation utilisation;
    std::uint64_t messages = 0;
    Folded folded;
    std::uint64_t bytes_sent = 0;
    std::uint64_t most_bytes_sent_by_rank = 0;  ///< servers are not included
    std::uint64_t gradient_bytes = 0;
    ClosedForm closed_form;
    Cost cost;
    std::optional<Energy> energy;  ///< empty unless the platform has the power of some part
    std::optional<WholeRun> run;   ///< empty unless the plan says how long the training is
    Memory memory;
    std::vector<LinkLoad> links;  ///< the ten most utilised links, the most utilised first
    std::string limited_by;       ///< see limit.hpp
    /// Of jobs that share a cluster; then `time` has only the mean iteration time of all jobs.
    std::optional<JobsResult> jobs = {};
    /// Notes that a reader must know to trust the numbers: one sentence each, without a full stop.
    std::vector<std::string> notes;
};

struct Report {
    std::string name;
    std::vector<Result> results;
};

/// Sets `best` for all grids of a variant: true for the one with the shortest iteration (on average, with several
/// seeds), the first of several, and false for the others.
void mark_best(Report& report);

/// One replay of a plan, up to its measured iteration.
struct ReplayedIteration {
    TaskGraph graph;
    Timeline timeline;
    std::uint32_t averaged = 1;  ///< number of iterations over which times and counts are averaged
    std::uint32_t measured = 0;  ///< number of the last of them
    Folded folded;
    Breakdown time;
};

/// Returns the rotations under which some ranks of each stage stand for the others in a replay that folds, as far as a
/// few routes show (symmetry.hpp).
Rotations rotations_of(const Lowered& training);

/// Returns the graph of representatives with the fewest ranks; nothing if no ranks stand for others.
std::optional<TaskGraph> representatives_of(const Lowered& training);

/// Returns the number of iterations that are replayed to measure one.
std::uint32_t iterations_of(const Lowered& training);

/// Replays a plan in a process of its own. Of `recorded`, only `messages` and `contention` are used.
ReplayedIteration replay_iteration(const Lowered& training, const Watch& watch = {},
                                   const ReplayOptions& recorded = {});
/// Replays the graph that build_iteration() made of `training`.
ReplayedIteration replay_iteration(const Lowered& training, TaskGraph graph, const Watch& watch = {},
                                   const ReplayOptions& recorded = {});

/// Does the same where only times and counts are of interest. If the plan may be folded, fewer microbatches are
/// replayed (micro_batches.hpp), and of replicas that are alike only the ranks that stand for the others are built
/// (alike.hpp): the graph has no other streams.
ReplayedIteration replay_representatives(const Lowered& training, const Watch& watch = {});

/// Returns the result of a replay of `training`. Also simulates the reference on one rank, for the scaling efficiency.
Result result_of(const Lowered& training, const ReplayedIteration& replayed, const Watch& watch = {});

/// Replays `training` and returns its result.
Result simulate(const Lowered& training, const Watch& watch = {});

}  // namespace syncline

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/plan/trace_plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// Several jobs on one cluster, whose fabric they share.
///
/// A job is a training, or an execution trace, with devices of its own. It runs its iterations once, from a standing
/// start, and then gives its devices back.
namespace syncline {

/// Choice of a job's devices among those that are free when it starts. `packed`: as few racks, and then as few nodes,
/// as possible; `spread`: over all racks in turn, and over the nodes of each; `random`: drawn with a seed; `rack`: all
/// in one rack, or the job waits; `avoiding`: packed, in racks without other jobs as far as there are any; `sharing`:
/// packed, in racks with other jobs first; `listed`: those of the training's own placement, or the job waits.
enum class JobPlacement { packed, spread, random, rack, avoiding, sharing, listed };

/// Order in which waiting jobs start. All devices of a job start together, or none (gang scheduling). `fifo`: in the
/// order of arrival; the first that does not fit blocks the others. `skip`: any that fits starts, in that order.
/// `backfill`: as `fifo`, but later ones start if they end before the first one could start (EASY: D. Lifka, "The
/// ANL/IBM SP scheduling system", JSSPP 1995), with simulated times in place of users' estimates.
enum class JobQueue { fifo, skip, backfill };

struct JobPlan {
    std::string name;  ///< of copies: with their number, "ring-2"
    double arrival_s = 0;
    JobPlacement placement = JobPlacement::packed;
    Model model;
    Plan plan;
    std::optional<TracePlan> trace = {};  ///< replaces model and plan
    Device device = {};                   ///< the cluster's, with what the training chooses of it
    std::size_t written = 0;              ///< number of the file's job; copies have the same
    bool random_arrival = false;          ///< drawn with a seed
    /// Above 0, of a training: the number of iterations is this time by that of an iteration alone on packed devices,
    /// rounded, at least 1, and `plan.iterations` has no effect.
    double duration_s = 0;

    std::int64_t ranks() const { return trace ? trace->ranks() : plan.ranks; }
    const RankPlacement& rank_placement() const { return trace ? trace->placement : plan.placement; }
    std::uint32_t iterations() const { return trace ? 1 : static_cast<std::uint32_t>(plan.iterations); }
    /// Returns whether results depend on the seed.
    bool draws() const {
        if (random_arrival || placement == JobPlacement::random) return true;
        return trace ? rank_placement().order == RankPlacement::Order::random : plan.draws();
    }
};

/// Messages between devices that belong to no job, for as long as jobs run.
struct TrafficPlan {
    /// `permutation`: each device sends to another, and receives from one, all drawn with a seed; `incast`: all others
    /// send to the first device; `pairs`: those that are listed; `poisson`: flows of random pairs, at random times.
    enum class Kind { permutation, incast, pairs, poisson };

    std::string name;
    Kind kind = Kind::permutation;
    std::vector<std::int64_t> devices;  ///< at least 2; of `pairs`: sender, receiver, sender, …
    std::uint64_t bytes = 0;            ///< of each message; of `poisson`: the mean
    /// Of each sender; of `poisson`: of each device, in the mean; 0: as fast as the fabric carries one message after
    /// the other.
    double rate_Bps = 0;
    double shape = 0;    ///< of `poisson`: of a Pareto distribution of sizes, above 1; 0: all flows have one size
    double until_s = 0;  ///< of `poisson`: no flow begins later
    std::uint64_t seed = 1;

    /// Returns whether results depend on the seed.
    bool draws() const { return kind == Kind::permutation || kind == Kind::poisson; }
    /// Returns the mean number of flows of `poisson`.
    double flows() const {
        return static_cast<double>(devices.size()) * rate_Bps * until_s / static_cast<double>(bytes);
    }
};

struct JobsPlan {
    std::vector<JobPlan> jobs;
    JobQueue queue = JobQueue::fifo;
    std::vector<TrafficPlan> traffic = {};
    std::uint64_t seed = 1;

    std::int64_t ranks() const {
        std::int64_t sum = 0;
        for (const JobPlan& job : jobs) sum += job.ranks();
        return sum;
    }
    /// Returns whether results depend on the seed.
    bool draws() const {
        return std::any_of(jobs.begin(), jobs.end(), [](const JobPlan& job) { return job.draws(); }) ||
               std::any_of(traffic.begin(), traffic.end(), [](const TrafficPlan& one) { return one.draws(); });
    }
};

}  // namespace syncline

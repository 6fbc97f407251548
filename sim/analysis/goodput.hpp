#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/base/spread.hpp"

/// Elapsed time of a training with failures, by sampling them.
///
/// A run is a number of equal iterations. After each interval of whole iterations, and after the last one, it writes a
/// checkpoint: the training stops for `blocking_s`, and the checkpoint is complete `background_s` later, while the
/// training continues. The next one waits for the one before it. Failures are a Poisson process, also during
/// checkpoints and restarts. A failure loses everything since the last complete checkpoint; a restart takes
/// `restart_s`, and starts again if it fails itself. A checkpoint in the background is lost with a failure before it is
/// complete.
///
/// With a time to repair, each failure breaks a node, which is back so much later. Spare nodes replace it at once; when
/// none is left, nodes lack. The training then continues at the pace of those that are left, or waits for the next
/// repair if there is none, before its restart. At the end of a restart it has all nodes that are back by then. While
/// it goes on with fewer, it stops at the first checkpoint that is complete after a repair with which more of it can
/// run, without losing anything, and restarts. Parts fail in proportion to the ranks that run, and not while the
/// training waits.
///
/// From this follow, for failures at the rate 1/M and repairs of R, and tests compare them:
///
/// - Repairs that are shorter than restarts cost nothing.
/// - Without spares and fewer replicas each failure adds R: T(1 + R/M), T being the elapsed time without repairs.
/// - The number of broken nodes is that of customers in M/G/∞: Poisson with mean R/M. For a rate λ(n) that depends on
///   it, p(n) ~ R^n/n! · Π λ(i). With short restarts the mean speed is Σ p(n) · speed(n).
///
/// Between two failures nothing is random, so that a run is folded to one step for each failure or repair: the number
/// of checkpoints before it is a division. Each run has its own sequence of SplitMix64, so results depend on the seed
/// alone.
///
/// goodput = useful time / elapsed time, as Llama 3's effective training time (A. Dubey et al., arXiv 2407.21783,
/// section 3.3.4), without the waiting in a queue that Meta's ETTR includes (A. Kokolis et al., arXiv 2410.21680).
/// Useful time is iterations · iteration time: what is computed once and kept.
///
/// Energy is counted in joules above idle: each computed iteration, kept or lost, adds its pace's. What the nodes take
/// when idle, all the time, is added by whoever knows it (failing_run.hpp).
///
/// Left out: failures that do not stop the training, such as slow devices; failures that break no node, or several, as
/// a switch's; spares that fail; ageing and bursts of failures; checkpoints that slow down the training, or are
/// damaged.
namespace syncline {

/// How a training goes on, with all nodes or fewer.
struct TrainingPace {
    double iteration_s = 0;   ///< time for as many samples as an iteration has with all nodes; above zero
    double running = 1;       ///< share of the parts that run, and can fail
    double above_idle_J = 0;  ///< energy for these samples, above that of idle nodes
};

/// A training that is interrupted. Times are in seconds.
struct InterruptedRun {
    double iterations = 0;           ///< whole number
    double iteration_s = 0;          ///< above zero
    double interval_iterations = 1;  ///< between checkpoints: a whole number
    double blocking_s = 0, background_s = 0;
    double restart_s = 0;
    double mtbf_s = 0;        ///< mean time between failures of the whole job; infinite: none
    double above_idle_J = 0;  ///< of an iteration: see TrainingPace
    double repair_s = 0;      ///< until a broken node is back; 0: at once
    std::int64_t spares = 0;  ///< number of nodes that stand by
    /// Returns the pace without so many nodes, which are fewer the more lack; nothing: the training waits.
    std::function<std::optional<TrainingPace>(std::int64_t missing)> without = {};

    double useful_s() const { return iterations * iteration_s; }
};

/// Parts of the elapsed time.
struct ElapsedParts {
    double useful_s = 0;
    double checkpoints_s = 0;  ///< complete checkpoints: training stopped
    double lost_s = 0;         ///< work, and checkpoints, that a failure undid
    double restarts_s = 0;
    double slower_s = 0;                  ///< by which kept iterations take longer with fewer replicas
    double waiting_s = 0;                 ///< for a repair
    double failures = 0;                  ///< their number
    double fewer_s = 0;                   ///< of all this, the time with fewer replicas; without waiting
    double above_idle_J = 0, lost_J = 0;  ///< the latter: of lost work, contained in the former

    double total_s() const { return useful_s + checkpoints_s + lost_s + restarts_s + slower_s + waiting_s; }
    ElapsedParts& operator+=(const ElapsedParts& other);
    ElapsedParts operator/(double number) const;
};

struct Goodput {
    ElapsedParts mean;               ///< over all runs
    Spread elapsed_s;                ///< of all runs
    std::vector<double> all_s;       ///< elapsed time of each run, in ascending order
    std::vector<ElapsedParts> runs;  ///< in the order of their seeds

    double goodput() const { return mean.useful_s / mean.total_s(); }
};

/// Number of runs that are sampled. Fewer if they have more than `most_failures` together, but no less than 20; one if
/// nothing fails.
inline constexpr std::size_t sampled_runs = 1000;
inline constexpr double most_failures = 20e6;

/// Samples runs, and returns nothing if one would not end: a twentieth of `most_failures` does not suffice.
std::optional<Goodput> sample_goodput(const InterruptedRun& run, std::uint64_t seed);

}  // namespace syncline

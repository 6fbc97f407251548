#pragma once

#include <cstdint>
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
/// Between two failures nothing is random, so that a run is folded to one step for each failure: the number of
/// checkpoints before it is a division. Each run has its own sequence of SplitMix64, so results depend on the seed
/// alone.
///
/// goodput = useful time / elapsed time, as Llama 3's effective training time (A. Dubey et al., arXiv 2407.21783,
/// section 3.3.4), without the waiting in a queue that Meta's ETTR includes (A. Kokolis et al., arXiv 2410.21680).
/// Useful time is iterations · iteration time: what is computed once and kept.
///
/// Left out: failures that do not stop the training, such as slow devices; jobs that continue with fewer ranks; ageing
/// and bursts of failures; checkpoints that slow down the training, or are damaged; a repair that takes longer than the
/// restart.
namespace syncline {

/// A training that is interrupted. Times are in seconds.
struct InterruptedRun {
    double iterations = 0;           ///< whole number
    double iteration_s = 0;          ///< above zero
    double interval_iterations = 1;  ///< between checkpoints: a whole number
    double blocking_s = 0, background_s = 0;
    double restart_s = 0;
    double mtbf_s = 0;  ///< mean time between failures of the whole job; infinite: none

    double useful_s() const { return iterations * iteration_s; }
};

/// Parts of the elapsed time.
struct ElapsedParts {
    double useful_s = 0;
    double checkpoints_s = 0;  ///< complete checkpoints: training stopped
    double lost_s = 0;         ///< work, and checkpoints, that a failure undid
    double restarts_s = 0;
    double failures = 0;  ///< their number

    double total_s() const { return useful_s + checkpoints_s + lost_s + restarts_s; }
};

struct Goodput {
    ElapsedParts mean;          ///< over all runs
    Spread elapsed_s;           ///< of all runs
    std::vector<double> all_s;  ///< elapsed time of each run, in ascending order

    double goodput() const { return mean.useful_s / mean.total_s(); }
};

/// Number of runs that are sampled. Fewer if they have more than `most_failures` together, but no less than 20; one if
/// nothing fails.
inline constexpr std::size_t sampled_runs = 1000;
inline constexpr double most_failures = 20e6;

/// Samples runs, and returns nothing if one would not end: a twentieth of `most_failures` does not suffice.
std::optional<Goodput> sample_goodput(const InterruptedRun& run, std::uint64_t seed);

}  // namespace syncline

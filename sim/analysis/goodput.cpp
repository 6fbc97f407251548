#include "sim/analysis/goodput.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/split_mix.hpp"

namespace syncline {

namespace {

/// Times between failures of one run.
class Failures {
public:
    Failures(double mtbf_s, std::uint64_t seed, std::uint64_t run)
        : mtbf_s_(mtbf_s), state_(split_mix(seed) ^ split_mix(~run)) {}

    /// Returns an exponential time, by inversion: distributions of the standard library differ between compilers.
    double next_s() {
        if (std::isinf(mtbf_s_)) return mtbf_s_;
        const std::uint64_t bits = split_mix(state_);
        state_ += split_mix_step;
        constexpr double unit = 0x1p-53;
        return -mtbf_s_ * std::log((static_cast<double>(bits >> 11) + 0.5) * unit);
    }

private:
    double mtbf_s_;
    std::uint64_t state_;
};

/// What happens without a failure, from a restart with `left` iterations to do. Checkpoint j of j = 1 … n is taken
/// after first + (j-1) · cycle, and is complete background_s later.
struct Undisturbed {
    double interval = 0;     ///< iterations
    double checkpoints = 0;  ///< n
    double waiting_s = 0;    ///< for the checkpoint before, in each interval but the first
    double overhead_s = 0;   ///< of all checkpoints, up to the end
    double first_s = 0, cycle_s = 0, end_s = 0;

    Undisturbed(const InterruptedRun& run, double left) {
        interval = std::min(run.interval_iterations, left);
        checkpoints = std::ceil(left / interval);
        const double busy_s = interval * run.iteration_s;
        const double last_s = (left - (checkpoints - 1) * interval) * run.iteration_s;
        waiting_s = std::max(0.0, run.background_s - busy_s);
        first_s = busy_s + run.blocking_s;
        cycle_s = first_s + waiting_s;
        overhead_s = checkpoints * run.blocking_s + run.background_s;
        if (checkpoints > 1) overhead_s += (checkpoints - 2) * waiting_s + std::max(0.0, run.background_s - last_s);
        end_s = left * run.iteration_s + overhead_s;
    }
    /// Returns the number of checkpoints that are complete when a failure comes, before the end.
    double complete(const InterruptedRun& run, double failure_s) const {
        const double since_s = failure_s - first_s - run.background_s;
        return since_s < 0 ? 0 : std::min(std::floor(since_s / cycle_s) + 1, checkpoints - 1);
    }
    /// Returns the time for which the first of them stop the training.
    double overhead_of(const InterruptedRun& run, double first) const {
        return first > 0 ? first * run.blocking_s + (first - 1) * waiting_s : 0;
    }
};

/// Samples one run. Returns nothing after `most` failures.
std::optional<ElapsedParts> sample(const InterruptedRun& run, Failures failures, double most) {
    ElapsedParts parts;
    double left = run.iterations, failure_s = failures.next_s();
    for (;;) {
        const Undisturbed course(run, left);
        if (failure_s >= course.end_s) {
            parts.useful_s += left * run.iteration_s;
            parts.checkpoints_s += course.overhead_s;
            return parts;
        }
        const double complete = course.complete(run, failure_s), iterations = complete * course.interval;
        const double useful_s = iterations * run.iteration_s, overhead_s = course.overhead_of(run, complete);
        left -= iterations;
        parts.useful_s += useful_s;
        parts.checkpoints_s += overhead_s;
        parts.lost_s += failure_s - useful_s - overhead_s;
        ++parts.failures;
        for (failure_s = failures.next_s(); failure_s < run.restart_s; failure_s = failures.next_s()) {
            parts.restarts_s += failure_s;
            if (++parts.failures > most) return std::nullopt;
        }
        if (parts.failures > most) return std::nullopt;
        parts.restarts_s += run.restart_s;
        failure_s -= run.restart_s;
    }
}

}  // namespace

std::optional<Goodput> sample_goodput(const InterruptedRun& run, std::uint64_t seed) {
    constexpr std::size_t least_runs = 20;
    Goodput result;
    ElapsedParts sum;
    const std::size_t most_runs = std::isinf(run.mtbf_s) ? 1 : sampled_runs;
    for (std::uint64_t number = 0; number < most_runs; ++number) {
        if (number >= least_runs && sum.failures > most_failures) break;
        const std::optional<ElapsedParts> one =
            sample(run, Failures(run.mtbf_s, seed, number), most_failures / least_runs);
        if (!one) return std::nullopt;
        sum.useful_s += one->useful_s;
        sum.checkpoints_s += one->checkpoints_s;
        sum.lost_s += one->lost_s;
        sum.restarts_s += one->restarts_s;
        sum.failures += one->failures;
        result.all_s.push_back(one->total_s());
    }
    const auto runs = static_cast<double>(result.all_s.size());
    result.mean = {sum.useful_s / runs, sum.checkpoints_s / runs, sum.lost_s / runs, sum.restarts_s / runs,
                   sum.failures / runs};
    std::ranges::sort(result.all_s);
    result.elapsed_s = spread_of(result.all_s);
    return result;
}

}  // namespace syncline

#include "sim/analysis/goodput.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

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
    /// Returns when checkpoint j is complete, and the number of the first that is complete after a time.
    double complete_s(const InterruptedRun& run, double j) const {
        return first_s + (j - 1) * cycle_s + run.background_s;
    }
    double first_after(const InterruptedRun& run, double time_s) const {
        return std::max(1.0, std::ceil((time_s - complete_s(run, 1)) / cycle_s) + 1);
    }
    /// Returns the time for which the first of them stop the training.
    double overhead_of(const InterruptedRun& run, double first) const {
        return first > 0 ? first * run.blocking_s + (first - 1) * waiting_s : 0;
    }
};

/// One run while it is sampled.
class Run {
public:
    Run(const InterruptedRun& run, Failures failures, double most)
        : run_(run),
          paced_(run),
          failures_(failures),
          most_(most),
          left_(run.iterations),
          failure_s_(failures_.next_s()) {}

    /// Returns the parts of the elapsed time; nothing after more than the most failures.
    std::optional<ElapsedParts> sample() {
        while (!ends()) {
            do
                if (!wait()) return std::nullopt;
            while (!restart());
        }
        return parts_;
    }

private:
    double now_s() const { return parts_.total_s(); }

    /// Forgets broken nodes that are back, and returns how many lack.
    std::int64_t missing() {
        while (!back_s_.empty() && back_s_.front() <= now_s()) back_s_.pop_front();
        return missing(back_s_.size());
    }
    std::int64_t missing(std::size_t broken) const {
        return std::max<std::int64_t>(0, static_cast<std::int64_t>(broken) - run_.spares);
    }
    std::optional<TrainingPace> pace(std::int64_t missing) const {
        if (missing == 0) return TrainingPace{run_.iteration_s, 1, run_.above_idle_J};
        return run_.without ? run_.without(missing) : std::nullopt;
    }

    bool slower(const TrainingPace& now) const { return now.running < 1 || now.iteration_s > run_.iteration_s; }

    /// Notes a failure, which is now.
    void fail() {
        ++parts_.failures;
        if (run_.repair_s > 0) back_s_.push_back(now_s() + run_.repair_s);
        failure_s_ = failures_.next_s();
    }

    /// Waits until there are enough nodes to go on. Returns false after too many failures.
    bool wait() {
        if (parts_.failures > most_) return false;
        while (!pace(missing())) {
            parts_.waiting_s += std::max(0.0, back_s_.front() - now_s());
            back_s_.pop_front();
        }
        return true;
    }

    /// Returns false if a failure comes before the end.
    bool restart() {
        const TrainingPace now = *pace(missing());
        const double failure_s = failure_s_ / now.running;
        const bool fails = failure_s < run_.restart_s;
        const double passed_s = fails ? failure_s : run_.restart_s;
        parts_.restarts_s += passed_s;
        if (slower(now)) parts_.fewer_s += passed_s;
        if (fails)
            fail();
        else
            failure_s_ -= run_.restart_s * now.running;
        return !fails;
    }

    /// Returns the time from now until a node is back with which more of the training runs, or faster; infinite if
    /// none is.
    double more_in_s(const TrainingPace& now) const {
        for (std::size_t back = 1; back <= back_s_.size() && slower(now); ++back)
            if (const std::optional<TrainingPace> then = pace(missing(back_s_.size() - back));
                then && (then->running > now.running || then->iteration_s < now.iteration_s))
                return back_s_[back - 1] - now_s();
        return std::numeric_limits<double>::infinity();
    }

    /// Counts what was computed.
    void compute(const TrainingPace& pace, double kept, double overhead_s, double lost_s) {
        parts_.useful_s += kept * run_.iteration_s;
        parts_.slower_s += kept * (pace.iteration_s - run_.iteration_s);
        parts_.checkpoints_s += overhead_s;
        parts_.lost_s += lost_s;
        const double lost_J = lost_s / pace.iteration_s * pace.above_idle_J;
        parts_.above_idle_J += kept * pace.above_idle_J + lost_J;
        parts_.lost_J += lost_J;
        if (slower(pace)) parts_.fewer_s += kept * pace.iteration_s + overhead_s + lost_s;
        left_ -= kept;
    }

    /// Computes until the run ends, which is true, a failure comes, or nodes that are back are taken in.
    bool ends() {
        const TrainingPace now = *pace(missing());
        paced_.iteration_s = now.iteration_s;
        const Undisturbed course(paced_, left_);
        const double failure_s = failure_s_ / now.running, more_s = more_in_s(now);
        // The first complete checkpoint after a repair.
        const double stop = std::isinf(more_s) ? course.checkpoints : course.first_after(paced_, more_s);
        const double stop_s = stop < course.checkpoints ? course.complete_s(paced_, stop) : course.end_s;
        if (failure_s < stop_s) {
            const double complete = course.complete(paced_, failure_s), kept = complete * course.interval;
            const double overhead_s = course.overhead_of(paced_, complete);
            compute(now, kept, overhead_s, failure_s - kept * now.iteration_s - overhead_s);
            fail();
            return false;
        }
        if (stop < course.checkpoints) {
            compute(now, stop * course.interval, course.overhead_of(paced_, stop) + paced_.background_s, 0);
            failure_s_ -= stop_s * now.running;
            return false;
        }
        compute(now, left_, course.overhead_s, 0);
        return true;
    }

    const InterruptedRun& run_;
    InterruptedRun paced_;  ///< with the iteration time of the nodes that are there
    Failures failures_;
    double most_, left_;
    double failure_s_;           ///< until the next failure, if all parts run
    std::deque<double> back_s_;  ///< when broken nodes are back, in ascending order
    ElapsedParts parts_;
};

}  // namespace

ElapsedParts& ElapsedParts::operator+=(const ElapsedParts& other) {
    useful_s += other.useful_s;
    checkpoints_s += other.checkpoints_s;
    lost_s += other.lost_s;
    restarts_s += other.restarts_s;
    slower_s += other.slower_s;
    waiting_s += other.waiting_s;
    failures += other.failures;
    fewer_s += other.fewer_s;
    above_idle_J += other.above_idle_J;
    lost_J += other.lost_J;
    return *this;
}

ElapsedParts ElapsedParts::operator/(double number) const {
    return {useful_s / number,  checkpoints_s / number, lost_s / number,  restarts_s / number,   slower_s / number,
            waiting_s / number, failures / number,      fewer_s / number, above_idle_J / number, lost_J / number};
}

std::optional<Goodput> sample_goodput(const InterruptedRun& run, std::uint64_t seed) {
    constexpr std::size_t least_runs = 20;
    Goodput result;
    ElapsedParts sum;
    const std::size_t most_runs = std::isinf(run.mtbf_s) ? 1 : sampled_runs;
    for (std::uint64_t number = 0; number < most_runs; ++number) {
        if (number >= least_runs && sum.failures > most_failures) break;
        const std::optional<ElapsedParts> one =
            Run(run, Failures(run.mtbf_s, seed, number), most_failures / least_runs).sample();
        if (!one) return std::nullopt;
        sum += *one;
        result.runs.push_back(*one);
        result.all_s.push_back(one->total_s());
    }
    result.mean = sum / static_cast<double>(result.all_s.size());
    std::ranges::sort(result.all_s);
    result.elapsed_s = spread_of(result.all_s);
    return result;
}

}  // namespace syncline

#include "sim/jobs/job_estimate.hpp"

#include <algorithm>
#include <optional>

#include "sim/lowering/lowered.hpp"

namespace syncline {

namespace {

/// Returns the training on the first devices; nothing if it cannot run there.
std::optional<Lowered> lowered(Cluster cluster, const JobPlan& job) {
    cluster.device = job.device;
    try {
        return lower(std::move(cluster), job.model, job.plan);
    } catch (const ParallelismError&) {
    } catch (const AlgorithmError&) {
    }
    return std::nullopt;
}

/// Returns whether the job before this one is a copy of the same job.
bool repeats(const JobsPlan& plan, std::size_t number) {
    if (number == 0) return false;
    const auto stem = [](const std::string& name) { return name.substr(0, name.rfind('-')); };
    return stem(plan.jobs[number].name) == stem(plan.jobs[number - 1].name) &&
           plan.jobs[number].ranks() == plan.jobs[number - 1].ranks() &&
           plan.jobs[number].model.name == plan.jobs[number - 1].model.name;
}

}  // namespace

Estimate estimate(const Cluster& cluster, const JobsPlan& plan) {
    Estimate sum, one;
    for (std::size_t number = 0; number < plan.jobs.size(); ++number) {
        const JobPlan& job = plan.jobs[number];
        if (!repeats(plan, number)) {
            one = {};
            if (job.trace)
                one = estimate(cluster, *job.trace);
            else if (const std::optional<Lowered> training = lowered(cluster, job))
                one = estimate(*training);
        }
        const double iterations = job.iterations(), simulated = std::max<double>(1, one.iterations);
        const double times = one.fidelity.folds ? 1 : 2 * iterations / simulated;
        sum.messages += one.messages * times;
        sum.time_s += one.time_s * times;
        sum.memory_bytes += one.memory_bytes;
        sum.iterations = std::max(sum.iterations, job.iterations());
        sum.fidelity = one.fidelity;
    }
    return sum;
}

std::vector<JobMemory> memory_of(const Cluster& cluster, const JobsPlan& plan) {
    std::vector<JobMemory> all;
    for (std::size_t number = 0; number < plan.jobs.size(); ++number) {
        const JobPlan& job = plan.jobs[number];
        if (job.trace || repeats(plan, number)) continue;
        if (const std::optional<Lowered> training = lowered(cluster, job))
            all.push_back({job.name, memory_of(*training)});
    }
    return all;
}

}  // namespace syncline

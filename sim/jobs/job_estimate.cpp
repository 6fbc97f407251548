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
    return number > 0 && plan.jobs[number].written == plan.jobs[number - 1].written;
}

/// Adds what the flows of `poisson` need, all of which are built before they are replayed.
void add_flows(Estimate& sum, const TrafficPlan& traffic) {
    constexpr double tasks = 3, task_B = 110 + 35, message_B = 250, task_s = 0.6e-6, message_s = 0.3e-6 + 2 * 0.9e-6;
    if (traffic.kind != TrafficPlan::Kind::poisson) return;
    const double flows = traffic.flows();
    sum.messages += flows;
    sum.memory_bytes += flows * (tasks * task_B + message_B);
    sum.time_s += flows * (tasks * task_s + message_s);
}

}  // namespace

Estimate estimate(const Cluster& cluster, const JobsPlan& plan) {
    constexpr double base_B = 45e6;  // of each estimate
    Estimate sum, one;
    sum.memory_bytes = base_B;
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
        sum.memory_bytes += std::max(0.0, one.memory_bytes - base_B);
        sum.iterations = std::max(sum.iterations, job.iterations());
        sum.fidelity = one.fidelity;
    }
    for (const TrafficPlan& traffic : plan.traffic) add_flows(sum, traffic);
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

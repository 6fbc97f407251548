#include "sim/analysis/jobs_result.hpp"

#include <algorithm>

namespace syncline {

namespace {

template <class Value>
double mean(const std::vector<JobResult>& jobs, Value value) {
    double sum = 0, count = 0;
    for (const JobResult& job : jobs) {
        if (!job.start_s) continue;
        sum += value(job);
        ++count;
    }
    return count > 0 ? sum / count : 0;
}

}  // namespace

double JobsResult::mean_slowdown() const {
    return mean(jobs, [](const JobResult& job) { return job.slowdown(); });
}

double JobsResult::worst_slowdown() const {
    double worst = 0;
    for (const JobResult& job : jobs)
        if (job.start_s) worst = std::max(worst, job.slowdown());
    return worst;
}

double JobsResult::mean_wait_s() const {
    return mean(jobs, [](const JobResult& job) { return job.wait_s(); });
}

double JobsResult::mean_iteration_s() const {
    return mean(jobs, [](const JobResult& job) { return job.iteration_s; });
}

std::size_t JobsResult::started() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(jobs, [](const JobResult& job) { return job.start_s.has_value(); }));
}

}  // namespace syncline

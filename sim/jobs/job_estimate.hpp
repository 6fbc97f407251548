#pragma once

#include <string>
#include <vector>

#include "sim/analysis/estimate.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/plan/jobs_plan.hpp"

/// Sizes of jobs before they are simulated.
namespace syncline {

/// Returns the sum of the jobs' estimates, each with its iterations, alone and beside the others. A job that may be
/// folded counts as if it is alone on its links. The flows of `poisson` traffic count once, all of them; other traffic
/// sends at its rate, or that of a node's port, for as long as jobs run: from their forecasts, with exchanges that move
/// each byte twice over a port, one after the other where the cluster is too small for all. Left out: replays for a
/// queue; the time of traces.
Estimate estimate(const Cluster& cluster, const JobsPlan& plan);

struct JobMemory {
    std::string name;
    std::size_t written = 0;  ///< JobPlan::written
    Memory memory;
};

/// Returns the memory that each training needs on a device. One that cannot run on the first devices is left out.
std::vector<JobMemory> memory_of(const Cluster& cluster, const JobsPlan& plan);

}  // namespace syncline

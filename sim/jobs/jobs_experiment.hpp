#pragma once

#include "sim/analysis/experiment.hpp"
#include "sim/plan/jobs_plan.hpp"

/// Simulation of jobs that share a cluster.
///
/// Each job is replayed alone, with the devices and the start that it has beside the others, and all jobs that share
/// links together. A job alone on its links takes the same time in both, which is then simulated once.
///
/// Left out: jobs that share devices or are interrupted, migration, failures, the start-up of a job.
namespace syncline {

/// Returns the result: its `jobs`, the mean iteration time, and the cost of the makespan.
/// Throws ReplayError if a job cannot run on the devices that it is given, or if messages of a trace wait for each
/// other.
Result simulate(const Cluster& cluster, const JobsPlan& plan, const Watch& watch = {});

}  // namespace syncline

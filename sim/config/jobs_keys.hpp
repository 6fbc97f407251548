#pragma once

#include <cstdint>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/config/scenario.hpp"

/// The keys of jobs that share a cluster: `jobs`, `queue` and `traffic` of a scenario.
namespace syncline::config {

/// Expands the jobs of an assembled document, to which all changes have been applied. A job with `submissions` becomes
/// one for each row of that file. The workload and the training, or the trace, of the file that `scenario` names take
/// the place of that name; keys of the job change them. Of a scenario with variants, they are those of `variant`.
void expand_jobs(Assembly& assembly, Node& document);

/// Returns the place of each job, by JobPlan::written.
std::vector<Location> places_of_jobs(const Node& document);

/// Describes the keys, with the cluster of `variant`, which gets the number of nodes that all jobs need at once if it
/// has none. `known`: the cluster is sound. Jobs are in the order of their names.
void describe_jobs(Fields& scenario, Variant& variant, bool known, std::uint64_t seed);

}  // namespace syncline::config

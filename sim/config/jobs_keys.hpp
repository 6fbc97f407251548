#pragma once

#include <cstdint>

#include "sim/config/assembly.hpp"
#include "sim/config/scenario.hpp"

/// The keys of jobs that share a cluster: `jobs`, `queue` and `traffic` of a scenario.
namespace syncline::config {

/// Puts the workload and the training, or the trace, of the file that `scenario` names in a job in place of its name;
/// keys of the job change them. Of a scenario with variants, they are those of `variant`.
void expand_job(Assembly& assembly, Node& job);

/// Describes the keys, with the cluster of `variant`, which gets the number of nodes that all jobs need at once if it
/// has none. `known`: the cluster is sound. Jobs are in the order of their names.
void describe_jobs(Fields& scenario, Variant& variant, bool known, std::uint64_t seed);

}  // namespace syncline::config

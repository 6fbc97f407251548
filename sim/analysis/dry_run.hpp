#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/estimate.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/plan/collective_plan.hpp"

/// Dry run: lists what would be exchanged, how and why, without simulating.
namespace syncline {

/// One bucket of an iteration, or one size of a single collective operation.
struct PlannedExchange {
    std::uint64_t bytes = 0;
    std::uint32_t times = 1;          ///< in an iteration: 1, or for each microbatch
    std::vector<std::string> layers;  ///< in the order in which their gradients become ready; none outside training
    /// Seconds after the start of an iteration with undisturbed computation at which the gradients are ready and
    /// released.
    std::optional<double> ready_s, release_s;
    std::string algorithm, protocol;  ///< protocol: empty if there is none
    std::string why;
};

struct DryRun {
    std::string variant;
    std::string workload;  ///< empty for a single collective operation
    std::int64_t ranks = 0;
    std::string operation;
    std::vector<PlannedExchange> exchanges;
    std::optional<Memory> memory;  ///< empty for a single collective operation
    Estimate estimate;             ///< of its simulation
};

struct DryRunReport {
    std::string name;
    std::vector<DryRun> results;
};

DryRun dry_run(const Lowered& training);
DryRun dry_run(const Cluster& cluster, const CollectivePlan& plan);

}  // namespace syncline

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/fidelity.hpp"
#include "sim/training/memory.hpp"

/// What would be exchanged, how, and why: nothing is simulated.
namespace syncline {

/// One bucket of an iteration, or one size of an exchange alone.
struct PlannedExchange {
    std::uint64_t bytes = 0;
    std::vector<std::string> layers;  ///< in the order in which their gradients become ready; none outside training
    /// Seconds after the iteration's start, with nothing to disturb the computation: gradients are there, and may
    /// leave.
    std::optional<double> ready_s, release_s;
    std::string algorithm, protocol;  ///< protocol: empty where none adds anything
    std::string why;
};

struct DryRun {
    std::string variant;
    std::string workload;  ///< empty of an exchange alone
    std::int64_t ranks = 0;
    std::string operation;
    std::vector<PlannedExchange> exchanges;
    FidelityChoice fidelity;
    std::optional<Memory> memory;  ///< nothing of an exchange alone
};

struct DryRunReport {
    std::string name;
    std::vector<DryRun> results;
};

DryRun dry_run(const Lowered& training);
DryRun dry_run(const Cluster& cluster, const CollectivePlan& plan);

}  // namespace syncline

#pragma once

#include <cstdint>
#include <vector>

#include "sim/batch/studies.hpp"
#include "sim/explore/exploration.hpp"
#include "sim/explore/measurement.hpp"

/// Finds the best plans of a study: all are simulated if the budget allows, else a search chooses (halving_search.hpp).
/// Repetitions of a point are one plan: its figures are their means, and each must satisfy the constraints.
namespace syncline::batch {

struct ExploreOptions {
    Objective objective;
    std::vector<config::Condition> constraints;
    std::int64_t budget = 0;  ///< maximum number of simulations at any setting; 0: all points
    std::int64_t top = 10;
    std::uint64_t seed = 1;  ///< seed of the random draw
    bool retry_failed = false;
};

/// Explores a study. Throws ConfigError if objective or constraints are not expressions over columns of results.
Exploration explore(Store& store, const PlannedStudy& planned, const ExploreOptions& options, const Simulate& simulate);

}  // namespace syncline::batch

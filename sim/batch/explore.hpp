#pragma once

#include <cstdint>
#include <vector>

#include "sim/batch/exploration.hpp"
#include "sim/batch/measurement.hpp"
#include "sim/batch/studies.hpp"

/// Which plans of a study are best: all of them simulated where the budget allows, else a search (search.hpp) that says
/// what it left out. Repetitions of a point are one plan: its figures are their means, and constraints must hold for
/// each.
namespace syncline::batch {

struct ExploreOptions {
    Objective objective;
    std::vector<config::Condition> constraints;
    std::int64_t budget = 0;  ///< simulations, at whatever setting; 0: all points
    std::int64_t top = 10;
    std::uint64_t seed = 1;  ///< of the draw
    bool retry_failed = false;
};

/// Throws ConfigError where objective or constraints are no expressions over what results have.
Exploration explore(Store& store, const PlannedStudy& planned, const ExploreOptions& options, const Simulate& simulate);

}  // namespace syncline::batch

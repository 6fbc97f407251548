#pragma once

#include <cstdint>
#include <string>

#include "sim/config/scenario.hpp"
#include "sim/output/json_text.hpp"
#include "sim/store/store.hpp"

/// One complete run in the calling process.
namespace syncline::batch {

/// Loads a resolved scenario and sets the seed of all random choices. Throws ConfigError.
config::Variant load_run(const std::string& scenario, std::uint64_t seed);

/// Simulates a resolved scenario and returns its result: as in `results` of `run --format json`, or for a single
/// exchange as printed by `collective`, without the version. Throws as the simulation does, and ReplayError if a
/// training does not fit into the devices' memory, unless `allow_oom`.
Json simulate_run(const std::string& scenario, std::uint64_t seed, bool allow_oom = false);

/// Does the same with a run of a store. Throws ReplayError, as if the simulation were impossible, if a file that its
/// scenario names is not the one by which the run is called `id`, and if it would be too large (see
/// analysis/estimate.hpp) and is not `forced`.
Json simulate_run(const std::string& id, const PlannedRun& run, bool forced);

}  // namespace syncline::batch

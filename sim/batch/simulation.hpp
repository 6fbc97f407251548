#pragma once

#include <cstdint>
#include <string>

#include "sim/config/files.hpp"

/// One run, start to end, in the process that calls it.
namespace syncline::batch {

/// A resolved scenario, with the seed of all that is random. Throws ConfigError.
config::Variant load_run(const std::string& scenario, std::uint64_t seed);

/// Simulates a resolved scenario and returns its result as a JSON object on one line: what `run --format json` has
/// under `results`, and of an exchange alone what `collective` prints. Throws as the simulation does.
std::string simulate_run(const std::string& scenario, std::uint64_t seed);

}  // namespace syncline::batch

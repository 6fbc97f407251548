#pragma once

#include "sim/config/scenario.hpp"

namespace syncline::cli {

/// Throws ConfigError if plans do not fit into the memory of their devices, with each such variant and the memory it
/// needs by kind. If `allowed`, writes a note to standard error instead.
void check_memory(const config::Scenario& scenario, bool allowed);

}  // namespace syncline::cli

#pragma once

#include "sim/config/files.hpp"

namespace syncline::cli {

/// Throws ConfigError, which names every variant whose plan does not fit into the memory of its devices, and what needs
/// it. With `allowed` a note on standard error says so.
void check_memory(const config::Scenario& scenario, bool allowed);

}  // namespace syncline::cli

#pragma once

#include <CLI/CLI.hpp>

#include "sim/config/files.hpp"

namespace syncline::cli {

/// The answer to a simulation that would be too large: an error, or a note if it is begun anyway, or if none is begun.
enum class Large { refused, forced, announced };

/// Throws ConfigError if a simulation would be too large for this machine, or for anybody to wait for (see
/// analysis/estimate.hpp), with the estimate and ways out, or writes a note to standard error.
void check_work(const config::Scenario& scenario, Large answer);
void check_work(const config::CollectiveQuestion& question, Large answer);

/// Adds the option `--force`.
void add_force(CLI::App& verb, bool& force);

}  // namespace syncline::cli

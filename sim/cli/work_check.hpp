#pragma once

#include <CLI/CLI.hpp>

#include "sim/analysis/dry_run.hpp"
#include "sim/config/scenario.hpp"

namespace syncline::cli {

/// Throws ConfigError if a simulation would be too large for this machine, or for anybody to wait for (see
/// analysis/estimate.hpp), with the estimate and ways out. If `forced`, writes a note to standard error instead.
void check_work(const config::Scenario& scenario, bool forced);
void check_work(const config::CollectiveQuestion& question, bool forced);

/// Writes such a note for each simulation that would be refused.
void announce_work(const DryRunReport& report);

/// Throws ConfigError if plans do not fit into the memory of their devices, with each such variant and the memory it
/// needs by kind. If `allowed`, writes a note to standard error instead.
void check_memory(const config::Scenario& scenario, bool allowed);

/// Reports on standard error which choices of variants (`model: auto`) are skipped, and why; for more than five choices
/// only one line per reason, with an example.
void say_left_out(const std::vector<std::string>& left_out);

/// Adds the option `--force`.
void add_force(CLI::App& verb, bool& force);

}  // namespace syncline::cli

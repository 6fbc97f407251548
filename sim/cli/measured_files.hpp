#pragma once

#include <string>
#include <vector>

#include "sim/measured/measured.hpp"

namespace syncline::cli {

/// Loads the scenarios with measurements that the command line names: files, names, or directories of files; without
/// any, scenarios/published. A file that is named twice is loaded once. Throws ConfigError with the errors of all
/// files.
std::vector<config::MeasuredScenario> load_measured(const std::vector<std::string>& paths,
                                                    const std::vector<std::string>& assignments);

/// Throws Failed with the reasons of simulations that failed, a line for each, unless there are none.
void require_whole(const std::vector<std::string>& failures);

}  // namespace syncline::cli

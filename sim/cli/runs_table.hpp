#pragma once

#include <vector>

#include "sim/planning/published_runs.hpp"

namespace syncline::cli {

/// Reads scenarios/published/llm/runs.csv, which ships with the program. Returns nothing if there is no such file.
/// Throws ConfigError if a column is missing or a number is none.
std::vector<planning::PublishedRun> published_runs();

}  // namespace syncline::cli

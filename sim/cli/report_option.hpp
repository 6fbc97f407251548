#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/report/report.hpp"

namespace syncline::cli {

/// Adds the option `--report FILE.html`.
CLI::Option* add_report(CLI::App& verb, std::string& file, const std::string& description);

/// Simulates the variants of the scenario at `path`, or `only` some, with `assignments`, on 1, 2, 4 … ranks, one after
/// the other.
/// `results` are the scenario's results: they provide the last point of each curve. Numbers of ranks with which the
/// scenario is not valid are skipped and named in `note`.
std::vector<ScalingCurve> scaling_curves(const std::string& path, const std::vector<std::string>& assignments,
                                         std::uint64_t seed, const std::vector<std::string>& only,
                                         const Report& results, std::string& note);

}  // namespace syncline::cli

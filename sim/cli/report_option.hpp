#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "sim/config/files.hpp"
#include "sim/report/report.hpp"

namespace syncline::cli {

/// The option `--report FILE.html`.
CLI::Option* add_report(CLI::App& verb, std::string& file, const std::string& description);

/// The variants of `scenario`, which `path` and `assignments` name and `results` are of, on 1, 2, 4 … ranks, simulated
/// one after the other; their own numbers of ranks come from `results`. A number of ranks that a scenario does not work
/// with is left out, and `note` says so.
std::vector<ScalingCurve> scaling_curves(const std::string& path, const std::vector<std::string>& assignments,
                                         std::uint64_t seed, const Report& results, std::string& note);

}  // namespace syncline::cli

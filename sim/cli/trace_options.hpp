#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/files.hpp"
#include "sim/explain/explanation.hpp"
#include "sim/trace/limits.hpp"

/// The options of verbs that write timelines, and the files that come of them.
namespace syncline::cli {

enum class TraceFormat { chrome, paje };

struct TraceOptions {
    std::optional<TraceFormat> format;  ///< nothing: no timeline is asked for
    std::string file;                   ///< empty: named after scenario and variant
    TraceLimits limits;
};

/// `--trace chrome|paje`, and `--trace-file`, `--trace-ranks`, `--trace-time` and `--trace-level`, which need it.
/// Returns `--trace`.
CLI::Option* add_trace_options(CLI::App& verb, TraceOptions& options);

/// By variant. The one that is asked for, or of several variants one each beside it, with the variant in its name; else
/// SCENARIO-VARIANT.trace.json or .paje in `directory`, or here if that is empty. Throws ConfigError where
/// --trace-ranks names a rank that a variant does not have, or the scenario has nothing to draw.
std::vector<std::filesystem::path> trace_files(const config::Scenario& scenario, const TraceOptions& options,
                                               const std::string& directory);

/// Writes a variant's timeline and says on standard error what is in it and what is not. `reason`: why messages were
/// not recorded, where they were not.
void write_trace(const TimelineView& view, const TraceOptions& options, const std::filesystem::path& file,
                 const std::string& title, const std::string& reason);

}  // namespace syncline::cli

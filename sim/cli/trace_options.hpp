#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/scenario.hpp"
#include "sim/explain/explanation.hpp"
#include "sim/trace/limits.hpp"

/// Options of verbs that write timelines, and the files they write.
namespace syncline::cli {

enum class TraceFormat { chrome, paje, svg };

struct TraceOptions {
    std::optional<TraceFormat> format;  ///< empty: no timeline
    std::string file;                   ///< empty: named after scenario and variant
    TraceLimits limits;

    /// Returns whether only tasks are drawn: messages need not be recorded.
    bool only_tasks() const { return format == TraceFormat::svg || limits.level == TraceLevel::tasks; }
};

/// Adds `--trace chrome|paje|svg`, and `--trace-file`, `--trace-ranks`, `--trace-time` and `--trace-level`, which need
/// it. Returns the option `--trace`.
CLI::Option* add_trace_options(CLI::App& verb, TraceOptions& options);

/// Returns the timeline file of each variant: the given file, with the variant's name added if there are several
/// variants; by default SCENARIO-VARIANT.trace.json, .paje or .svg in `directory`, or in the current directory if that
/// is empty. Throws ConfigError if --trace-ranks names a rank that no variant has, or if the scenario has no training
/// to draw.
std::vector<std::filesystem::path> trace_files(const config::Scenario& scenario, const TraceOptions& options,
                                               const std::string& directory);

/// Writes a variant's timeline and reports on standard error what it contains and what is left out. `reason`: why
/// messages were not recorded, if they were not.
void write_trace(const TimelineView& view, const Lowered* training, const TraceOptions& options,
                 const std::filesystem::path& file, const std::string& title, const std::string& reason);

}  // namespace syncline::cli

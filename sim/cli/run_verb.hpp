#pragma once

#include "sim/cli/repeat.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/trace_options.hpp"
#include "sim/cli/verbs.hpp"

namespace syncline::cli {

/// The options of `syncline run`.
struct RunOptions {
    std::string scenario;
    std::vector<std::string> assignments = {}, only = {};
    Format format = Format::table;
    TableOptions tables = {};
    std::string directory = {};
    std::uint64_t seed = 1;
    bool timing = false;
    bool dry = false;
    bool allow_oom = false;
    bool force = false;  ///< also simulations that are too large
    bool check = false;
    TraceOptions trace = {};
    std::string report = {};
    bool scaling = false;
    Repeating repeating = {};
};

/// Simulates every variant of the scenario and writes the results. Throws Failed if `check` is set and an expectation
/// of the scenario is missed.
void run(const RunOptions& options);

}  // namespace syncline::cli

#pragma once

#include "sim/cli/trace_options.hpp"
#include "sim/cli/verbs.hpp"

namespace syncline::cli {

/// What `syncline run` is asked.
struct RunOptions {
    std::string scenario;
    std::vector<std::string> assignments = {};
    Format format = Format::table;
    std::string directory = {};
    std::uint64_t seed = 1;
    bool timing = false;
    bool dry = false;
    bool allow_oom = false;
    bool check = false;
    TraceOptions trace = {};
    std::string report = {};
    bool scaling = false;
};

/// Simulates every variant of the scenario and writes what came out. Throws Failed if `check` is set and something is
/// not as the scenario expects.
void run(const RunOptions& options);

}  // namespace syncline::cli

#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "sim/analysis/experiment.hpp"
#include "sim/config/scenario.hpp"

namespace syncline::cli {

/// Simulation with several seeds.
struct Repeating {
    std::size_t times = 1;
    std::size_t jobs = 1;  ///< parallel simulations
};

/// Adds the option `--repeat N`; `what` is its description.
CLI::Option* add_repeat(CLI::App& verb, std::size_t& times, const char* what);

/// Simulates the variants, whose results with `seed` are in `report`, also with the seeds derived from it (see
/// validation::repeated_seed()), and sets Result::repeated. A variant in which nothing is random is not simulated
/// again. Each simulation has its own process; their order does not influence the results. Throws ReplayError.
void repeat(const config::Scenario& scenario, Report& report, std::uint64_t seed, const Repeating& how, bool allow_oom);

}  // namespace syncline::cli

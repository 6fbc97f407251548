#pragma once

#include <string>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/config/scenario.hpp"

/// A variant of any kind, a training, a single exchange, a trace or jobs: its size, its memory, its simulation.
namespace syncline::batch {

Estimate estimate_of(const config::Variant& variant);

/// Returns what does not fit into its device's memory: "it needs …", "job 'a' needs …". Empty if all fits, and for
/// exchanges and traces, which say nothing of memory.
std::string shortage_of(const config::Variant& variant);

/// Simulates a variant that is no single exchange; the result has the variant's name.
Result simulated(const config::Variant& variant, const Watch& watch = {});

}  // namespace syncline::batch

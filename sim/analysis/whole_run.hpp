#pragma once

#include <optional>

#include "sim/analysis/cost.hpp"
#include "sim/lowering/lowered.hpp"

/// Time and cost of the whole training of which one iteration was simulated: its number of iterations
/// (training/run_length.hpp) times those of one.
namespace syncline {

struct WholeRun {
    double iterations = 0;
    double time_s = 0;
    std::optional<double> cost;  ///< empty if nodes have no price
};

/// Returns nothing if the plan has no Plan::run. `cost` is that of an iteration.
std::optional<WholeRun> whole_run(const Lowered& training, double iteration_s, const Cost& cost);

}  // namespace syncline

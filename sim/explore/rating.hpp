#pragma once

#include <string>
#include <vector>

#include "sim/explore/exploration.hpp"
#include "sim/explore/objective.hpp"
#include "sim/explore/plans.hpp"

namespace syncline::batch {

/// Returns the importance of each axis for the objective `values` of the plans: most important first, each with the
/// axes from which it cannot be distinguished. Notes list these, and axes that partly vary together.
std::vector<AxisImportance> rate_axes(const std::vector<PlanAxis>& axes, const Objective& objective,
                                      const std::vector<double>& values, std::vector<std::string>& notes);

}  // namespace syncline::batch

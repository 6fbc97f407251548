#pragma once

#include <string>
#include <vector>

#include "sim/batch/exploration.hpp"
#include "sim/batch/objective.hpp"
#include "sim/batch/plans.hpp"

namespace syncline::batch {

/// How much each axis matters on `plans`, whose objective is `values`: most important first, each with the axes from
/// which it cannot be told. Notes say which those are, and which partly vary together.
std::vector<AxisImportance> rate_axes(const std::vector<PlanAxis>& axes, const Objective& objective,
                                      const std::vector<double>& values, std::vector<std::string>& notes);

}  // namespace syncline::batch

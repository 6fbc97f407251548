#pragma once

#include <string>
#include <vector>

#include "sim/explain/explanation.hpp"

namespace syncline {

/// Returns the diagnosis of an iteration, in two or three sentences. `explanation` must be complete but for it.
///
/// 1. What limits the iteration (sim/analysis/limit.hpp), and the task of the critical path that shows it.
/// 2. What else costs most, if it is a twentieth of the iteration.
/// 3. The change of `explanation.what_if` that helps most, if it gains a twentieth: one of the plan, or else of a
/// resource,
///    or else the batch; for a bubble the batch before a resource.
///
/// `plans`: plan_changes() of the plan.
std::string diagnosis_of(const std::vector<std::string>& plans, const Explanation& explanation);

}  // namespace syncline

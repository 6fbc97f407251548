#pragma once

#include "sim/explain/explain.hpp"
#include "sim/plan/trace_plan.hpp"

namespace syncline {

/// Explains the time of an execution trace, as explain() does that of a training, without what a trace does not know:
/// layers and kernels, the closed form. Changes of `device` scale its computation; `batch` and `memory` cannot change.
Explanation explain_trace(const Cluster& cluster, const TracePlan& plan, const ExplainOptions& options = {},
                          TimelineView* view = nullptr);

}  // namespace syncline

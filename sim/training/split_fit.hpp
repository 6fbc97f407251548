#pragma once

#include "sim/training/feasibility.hpp"

/// Whether a model can be split as a plan says.
namespace syncline {

/// Judges a plan's ranges of layers, the parts of its pipeline, and the plan as a whole by lowering it, or each choice
/// that an open plan has. Neither the ranks of a stage nor the cluster may be in doubt any more.
void judge_split(const Cluster& cluster, const Model& model, const Plan& plan, const OpenPlan& open,
                 Feasibility& found);

}  // namespace syncline

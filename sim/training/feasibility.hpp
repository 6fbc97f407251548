#pragma once

#include <memory>

#include "sim/platform/cluster.hpp"
#include "sim/training/complaint.hpp"
#include "sim/training/lowered.hpp"
#include "sim/training/open_plan.hpp"
#include "sim/training/plan.hpp"
#include "sim/workload/model.hpp"

/// Judges whether a plan can be carried out: a training of a model on a cluster, or a single exchange. Values in the
/// plan's ranges are assumed. Nothing here knows where a plan is written.
///
/// A cluster of as many nodes as needed has 0 nodes: see give_nodes(). Whether a training fits into the devices' memory
/// is another question: see memory.hpp.
namespace syncline {

struct Feasibility {
    Complaints complaints;  ///< none: the plan can be carried out
    GridChoices choices;    ///< of an open plan
    /// The lowered plan, if it had to be made and nothing is left open.
    std::shared_ptr<const Lowered> lowered = nullptr;
};

/// Judges a plan about which settle() has no complaints. An open plan is feasible if one of its choices is.
Feasibility judge(const Cluster& cluster, const Model& model, const Plan& plan, const OpenPlan& open = {});

Complaints judge(const Cluster& cluster, const CollectivePlan& plan);

/// Judges whether the device gives what the compute model needs.
Complaints judge(ComputeKind kind, const Model& model, const Device& device);

}  // namespace syncline

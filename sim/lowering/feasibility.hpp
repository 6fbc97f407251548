#pragma once

#include <memory>

#include "sim/lowering/lowered.hpp"
#include "sim/lowering/open_plan.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/complaint.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// Judges whether a plan can be carried out: a training of a model on a cluster, or a single exchange. Values in the
/// plan's ranges are assumed. Nothing here knows where a plan is written.
///
/// A cluster of as many nodes as needed has 0 nodes: see give_nodes(). Whether a training fits into the devices' memory
/// is another question: see device_memory.hpp.
namespace syncline {

/// One way to factorise the ranks of a stage.
struct GridChoice {
    std::int64_t rows = 1, columns = 1;
    std::shared_ptr<const Lowered> lowered;
};

struct GridChoices {
    std::vector<GridChoice> fitting;    ///< fewest rows first; none if nothing is left open
    std::vector<std::string> left_out;  ///< "8x1: why", one for each that does not fit
};

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

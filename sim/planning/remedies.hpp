#pragma once

#include <string>
#include <vector>

#include "sim/planning/candidates.hpp"

namespace syncline::planning {

/// The plan that needs the least memory of those that do not fit.
struct Closest {
    Choice choice;
    Memory memory;
};

/// `effort` is that of each of the searches for it. Returns what would make some plan fit, the cheapest first: nothing
/// but another plan needs `closest`; full recomputation, and offload where the cluster has its figures, if a plan then
/// fits; more ranks, if a plan of the same batch then fits; a device with more memory.
std::vector<std::string> remedies(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open,
                                  const Effort& effort, const Closest& closest);

}  // namespace syncline::planning

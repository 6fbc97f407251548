#pragma once

#include <functional>
#include <optional>

#include "sim/planning/search.hpp"
#include "sim/training/lowered.hpp"
#include "sim/training/open_plan.hpp"

namespace syncline::planning {

/// A choice that can be carried out, except perhaps for lack of memory.
struct Candidate {
    const Choice& choice;
    const Lowered& lowered;
    Memory memory;
};

/// Calls `fits` for each choice that is feasible and fits into memory, and `too_large` for those that only lack memory.
/// Adds the reasons of the others to `skipped`. Returns the number of choices. A choice that fits is not tried with
/// more recomputation, which only adds computation; one that is not feasible is not with more, either.
std::int64_t each_candidate(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open,
                            const std::function<void(const Candidate&)>& fits,
                            const std::function<void(const Candidate&)>& too_large, Reasons& skipped);

}  // namespace syncline::planning

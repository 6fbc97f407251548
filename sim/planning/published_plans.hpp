#pragma once

#include <string>
#include <vector>

#include "sim/lowering/device_memory.hpp"
#include "sim/planning/published_runs.hpp"
#include "sim/planning/search.hpp"
#include "sim/planning/time_shares.hpp"

/// Plans of published trainings of the same model, among those that a search looks at.
///
/// A run has the same model if its parameters are as many, to a twentieth, and both or neither have experts, and the
/// same devices if they are of one generation. On other numbers of ranks or with another batch its plan has as many
/// rows, parts of a sequence, stages, virtual stages and ranks of experts, other replicas, and microbatches of the same
/// size, or the largest below it that divides a replica's batch.
namespace syncline::planning {

struct PublishedPlan {
    PublishedRun run;  ///< of several with this plan, the one whose number of ranks is nearest
    Choice choice;
};

/// Returns the different plans that can be made on these ranks, by the distances of the runs' numbers of ranks. Keys
/// that are written exclude plans with other values.
std::vector<PublishedPlan> published_plans(const std::vector<PublishedRun>& runs, const Cluster& cluster,
                                           const Model& model, const Plan& base, const OpenPlan& open);

/// A published plan beside the best one; both are forecast.
struct Beside {
    PublishedRun run;
    std::string words, text, recomputation;
    bool fits = true, best = false;  ///< it is the best plan
    Memory memory = {};
    TimeShares shares = {};  ///< if it fits
};

/// Returns the plans that can be carried out, beside `best`, one of those that were found: the fastest first, then
/// those that do not fit.
std::vector<Beside> beside(const std::vector<PublishedPlan>& plans, const Cluster& cluster, const Model& model,
                           const Plan& base, const OpenPlan& open, const Found& found, const FoundPlan& best);

/// Returns "~7.35 s, 13 % slower: 450 ms more bubble, 380 ms more exposed exchanges"; `best` are the best plan's
/// shares.
std::string words_of(const Beside& plan, const TimeShares& best);

}  // namespace syncline::planning

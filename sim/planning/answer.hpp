#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/cost.hpp"
#include "sim/analysis/utilisation.hpp"
#include "sim/lowering/open_plan.hpp"
#include "sim/planning/published_plans.hpp"
#include "sim/planning/published_runs.hpp"
#include "sim/planning/search.hpp"
#include "sim/planning/time_shares.hpp"

/// The answer to a planner's question: the best plans of a search with what a planner compares.
///
/// What bounds a plan follows from forecasts of the same plan on changed clusters, each with one resource twice as
/// good: the one whose change gains the most. If none gains a twentieth, it is none of them.
namespace syncline::planning {

/// A change of the cluster, and the time of an iteration with it divided by the time without, both estimated.
struct Effect {
    std::string change;  ///< as `explain --what-if` has it: "link:fabric x0.5"
    std::string words;   ///< for a reader: "ports x2"
    double factor = 1;
};

/// A plan of the answer.
struct Answer {
    std::string platform;
    std::int64_t ranks = 0, batch = 0;
    std::int64_t rank = 0;  ///< 1: the best for this number of ranks
    FoundPlan found;
    std::string words;  ///< in the field's abbreviations: see short_words()
    double iteration_s = 0;
    bool simulated = false;  ///< else it is estimated
    Utilisation utilisation;
    Cost cost;
    std::optional<Energy> energy;  ///< estimated: with the forecast's computation, without traffic on links
    std::optional<WholeRun> run;
    std::string failures_note;    ///< of failing_run.hpp; empty: there is nothing to say
    Spread published;             ///< of the nearest runs; none: nothing is known
    std::vector<Effect> effects;  ///< of the best plan alone
    std::string limited_by;       ///< the same; empty: nothing gains a twentieth
    TimeShares shares;            ///< the same
    std::vector<Beside> beside;   ///< the same
};

/// Returns the plan in the field's abbreviations: "TP8 PP4x2 CP2 DP16 mbs1 SP ZeRO-1", with the number of virtual
/// stages behind that of stages, the microbatch in samples, and "layers" if it says how they are divided among virtual
/// stages. It is no value of a key: see FoundPlan::text.
std::string short_words(const Plan& plan);

/// Returns the best plans that `found` has for the training with this `base`, at most `most`. Plans that split the
/// model alike and take the same time, to a thousandth, count as one. `published` are all runs that are known.
std::vector<Answer> answers(const Cluster& cluster, const Model& model, const Plan& base, const OpenPlan& open,
                            const Found& found, std::size_t most, const std::vector<PublishedRun>& published = {});

}  // namespace syncline::planning

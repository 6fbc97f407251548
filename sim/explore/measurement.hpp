#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sim/batch/batch.hpp"
#include "sim/explore/plan_figures.hpp"

/// Simulates plans that have no results in a store yet, and rates them by an objective.
namespace syncline::batch {

/// Runs those of `runs` that are pending in the store.
using Simulate = std::function<BatchOutcome(const std::vector<std::string>& runs)>;

class Measurement {
public:
    Measurement(Store& store, Objective objective, std::vector<config::Condition> constraints, bool retry_failed,
                const Simulate& simulate)
        : store_(store),
          objective_(std::move(objective)),
          constraints_(std::move(constraints)),
          retry_failed_(retry_failed),
          simulate_(simulate) {}

    /// Simulates the plans, which must be in the store as points of `study`. Returns false if it was interrupted.
    bool run(const std::string& study, const std::vector<Candidate>& plans);
    /// Returns the plans' figures: the objective, then `columns`. Throws ConfigError for invalid expressions.
    std::vector<PlanFigures> figures(Results& results, const std::vector<Candidate>& plans,
                                     const std::vector<Figure>& columns = {});

    Store& store() { return store_; }
    const Objective& objective() const { return objective_; }
    bool interrupted() const { return interrupted_; }
    std::int64_t simulations() const { return static_cast<std::int64_t>(simulated_.size()); }

private:
    Store& store_;
    Objective objective_;
    std::vector<config::Condition> constraints_;
    bool retry_failed_;
    const Simulate& simulate_;
    std::set<std::string> simulated_;
    bool checked_ = false;  ///< the expressions are known to be valid
    bool interrupted_ = false;
};

/// Returns places in `figures`, best first: ranked ones, then those outside the constraints, then the others. The sort
/// is stable.
std::vector<std::size_t> best_first(const Objective& objective, const std::vector<PlanFigures>& figures);

}  // namespace syncline::batch

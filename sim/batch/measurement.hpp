#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sim/batch/batch.hpp"
#include "sim/batch/figures.hpp"

/// Plans simulated, as far as a store has no results of them yet, and judged by an objective.
namespace syncline::batch {

/// Runs what is pending of these runs in the store.
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

    /// The plans must be noted in the store, as points of `study`. False if it was interrupted.
    bool run(const std::string& study, const std::vector<Plan>& plans);
    /// What came of them; figures besides the objective: `columns`. Throws ConfigError where an expression is none.
    std::vector<Figures> figures(Results& results, const std::vector<Plan>& plans,
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
    bool checked_ = false;  ///< expressions are known to be some
    bool interrupted_ = false;
};

/// Places among `figures`, best first: ranked ones, then those outside the constraints, then the others; equals stay in
/// order.
std::vector<std::size_t> best_first(const Objective& objective, const std::vector<Figures>& figures);

}  // namespace syncline::batch

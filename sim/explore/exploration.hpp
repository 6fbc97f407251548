#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/explore/objective.hpp"
#include "sim/output/columns.hpp"
#include "sim/query/table.hpp"

/// The result of exploring a study.
namespace syncline::batch {

/// The share of the objective's variance that is due to one axis, see importance.hpp.
struct AxisImportance {
    std::string axis;
    double share = 0;
    std::string best_value;  ///< the value with the best mean
    double best_mean = 0;
    std::vector<std::string>
        confounded_with;  ///< axes that vary together with it, so that their shares cannot be distinguished
};

struct Stage {
    std::string setting;  ///< the setting of the stage: "closed form", "training.iterations=1", "as the study says"
    std::int64_t plans = 0, kept = 0;
    std::int64_t simulations = 0;
};

/// Counts every plan of the study once: as ranked, or by the reason why it is not.
struct PlanCounts {
    std::int64_t ranked = 0;
    std::int64_t outside_constraints = 0;
    std::int64_t failed = 0;         ///< a simulation failed
    std::int64_t without_value = 0;  ///< the objective has no value
    std::int64_t unfit = 0;          ///< not a valid scenario
    std::int64_t left_out = 0;       ///< dropped by the search after a cheaper setting
    std::int64_t skipped = 0;        ///< skipped by the search, never simulated
};

/// A reason why plans were not simulated or failed.
struct NotRanked {
    std::string reason;   ///< the first error of this kind
    bool varies = false;  ///< some errors of this kind have other numbers
    std::int64_t plans = 0;
    std::string example;  ///< settings of the first plan
};

struct Exploration {
    std::string study;
    Objective objective;
    std::vector<std::string> constraints;
    std::int64_t plans = 0, repeats = 1, budget = 0, simulations = 0;
    PlanCounts counts;
    std::vector<NotRanked> not_ranked;  ///< plans that do not fit or failed, the most frequent reason first
    std::vector<Stage> stages;          ///< empty: all plans were simulated
    Rows ranked;                        ///< the best plans, best first, up to `top`: point, settings, figures
    std::string objective_column;       ///< the objective's name among them
    std::string time, cost;             ///< columns of the front; for trainings per sample, since batches may differ
    Rows front;  ///< the Pareto front by time: no plan is both faster and cheaper; columns as in `ranked`
    std::vector<AxisImportance>
        axes;  ///< most important first; only axes of which the ranked plans have several values
    std::vector<std::string> notes;
    bool interrupted = false;  ///< then the other members are incomplete
};

std::string to_json(const Exploration& exploration);
std::string to_csv(const Exploration& exploration);
std::string to_table(const Exploration& exploration, const text::TableLayout& layout = {});

}  // namespace syncline::batch

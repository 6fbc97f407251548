#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/batch/objective.hpp"
#include "sim/batch/table.hpp"

/// What came of exploring a study.
namespace syncline::batch {

/// The part of the objective's variance that goes with one axis, see importance.hpp.
struct AxisImportance {
    std::string axis;
    double share = 0;
    std::string best_value;  ///< the value with the best mean
    double best_mean = 0;
    std::vector<std::string> confounded_with;  ///< axes that vary together with it: no share tells them apart
};

struct Stage {
    std::string setting;  ///< what was done: "closed form", "training.iterations=1", "as the study says"
    std::int64_t plans = 0, kept = 0;
    std::int64_t simulations = 0;
};

/// Every plan of the study is counted once: ranked, or why it is not.
struct PlanCounts {
    std::int64_t ranked = 0;
    std::int64_t outside_constraints = 0;
    std::int64_t failed = 0;         ///< a simulation did
    std::int64_t without_value = 0;  ///< of the objective
    std::int64_t unfit = 0;          ///< no scenario
    std::int64_t left_out = 0;       ///< by the search, after a cheaper setting
    std::int64_t skipped = 0;        ///< by the search, never simulated
};

/// Why plans were not simulated or failed.
struct NotRanked {
    std::string reason;  ///< the first error of it; others may have other numbers
    std::int64_t plans = 0;
    std::string example;  ///< settings of the first plan
};

struct Exploration {
    std::string study;
    Objective objective;
    std::vector<std::string> constraints;
    std::int64_t plans = 0, repeats = 1, budget = 0, simulations = 0;
    PlanCounts counts;
    std::vector<NotRanked> not_ranked;  ///< of those that do not fit or failed, the most frequent reason first
    std::vector<Stage> stages;          ///< empty: everything was simulated
    Rows ranked;                        ///< best first, at most `top` of them: point, settings, figures
    std::string objective_column;       ///< the objective's name among them
    std::string time, cost;             ///< columns of the front: of trainings by the sample, as batches may differ
    Rows front;                         ///< by time: nothing else is both faster and cheaper; columns as of `ranked`
    std::vector<AxisImportance> axes;   ///< most important first; those of which the ranked plans have several values
    std::vector<std::string> notes;
    bool interrupted = false;  ///< then there is nothing else
};

std::string to_json(const Exploration& exploration);
std::string to_csv(const Exploration& exploration);
std::string to_table(const Exploration& exploration);

}  // namespace syncline::batch

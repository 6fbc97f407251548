#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/cli/progress.hpp"
#include "sim/config/scenario.hpp"
#include "sim/planning/search.hpp"

namespace syncline::cli {

/// Assignments that say the plan, by variant: "training.parallelism={model: 8}".
using Plans = std::map<std::string, std::vector<std::string>>;

/// How to search the plans of variants with `parallelism: auto`.
struct PlanSearch {
    std::size_t jobs = 1;
    bool simulates = true;       ///< false: the estimates decide
    std::string directory = {};  ///< gets plans.csv; empty: none does
};

/// Returns what shows a search as steps of the line, which must outlive it: "NAME: plans considered", and so on.
decltype(planning::Search::watch) shown_search(ProgressLine& progress, const std::string& name);

/// Loads a scenario by `load`, and again with the plans that are found for its variants with `parallelism: auto`, if it
/// has some. Describes the searches on standard error. Throws ConfigError if no plan of a variant fits.
config::Scenario with_plans(const std::function<config::Scenario(const Plans&)>& load, const PlanSearch& how);

}  // namespace syncline::cli

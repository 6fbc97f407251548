#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// Published trainings beside a plan: how far predictions of the nearest of them were off.
///
/// Runs are compared if their devices are of the plan's generation (`h100-sxm`, `h200`: the letter before the number,
/// without the g of Grace), if both models have experts or neither has, and if the source is reliable. Their distance
/// is
///
///     sqrt(ln²(ranks / ranks of the plan) + ln²(parameters / parameters of the plan))
///
/// The nearest Spread::most_runs within Spread::farthest count. The spread is that of their measured times divided by
/// uncalibrated predictions, without the shortest and the longest if they are at least Spread::trimmed_from, since
/// single runs are several times slower than others of the same plan.
namespace syncline::planning {

/// A row of scenarios/published/llm/runs.csv.
struct PublishedRun {
    std::string name, device, model;
    std::int64_t ranks = 1, batch = 1, parameters = 0;
    std::int64_t experts = 0;  ///< of a layer; 0: none
    // The plan.
    std::int64_t rows = 1, context = 1, stages = 1, virtual_stages = 1, expert_rows = 1, expert_ranks = 1,
                 micro_batches = 1;
    bool sequence = false;
    std::string sharding;
    bool reliable = true;
    double measured_by_predicted = 0;  ///< of the time of an iteration; 0: it was not predicted
};

/// How many times as long as predicted published runs took.
struct Spread {
    static constexpr std::size_t most_runs = 8, trimmed_from = 4;
    static constexpr double farthest = 3;

    std::vector<PublishedRun> runs;  ///< by their factors, the least first; those that count, the ends included
    double least = 0, most = 0;
    PublishedRun first, last;  ///< that the ends belong to

    bool any() const { return !runs.empty(); }
};

Spread spread_of(const std::vector<PublishedRun>& runs, const Device& device, const Model& model, std::int64_t ranks);

/// Returns "h" for `h100-sxm`, `gh200` and `h200`; nothing for names of other forms.
std::string generation_of(const std::string& device);

/// Returns the experts of a layer, at most.
std::int64_t most_experts(const Model& model);

/// Returns "6 of the 8 nearest published runs took 1.15 to 1.29 times as long as predicted, from TITAN-11 to BP40".
std::string words_of(const Spread& spread);

}  // namespace syncline::planning

#pragma once

#include <cstdint>
#include <vector>

#include "sim/batch/studies.hpp"
#include "sim/explore/exploration.hpp"
#include "sim/explore/measurement.hpp"

/// A search for the best plans of a study that has too many plans to simulate all, by successive halving (halving.hpp).
/// The cheaper settings are the study's `question.cheaper`, by default one iteration from an idle start. Plans are
/// first ranked by closed form if all have one, else drawn at random. Points at a cheaper setting are in the store as
/// another study, "NAME (SETTING)".
namespace syncline::batch {

struct Search {
    std::vector<std::size_t> kept;  ///< places in `fitting` of the plans that were simulated at the study's own setting
    std::size_t first = 0;          ///< number of plans that were simulated at any setting
    std::vector<Stage> stages;
};

/// Searches `fitting`, the plans that can be simulated. `budget` is a number of simulations below that of the points.
Search search(const PlannedStudy& planned, const std::vector<Candidate>& fitting, std::int64_t budget,
              std::uint64_t seed, Measurement& measurement);

}  // namespace syncline::batch

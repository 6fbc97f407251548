#pragma once

#include <cstdint>
#include <vector>

#include "sim/batch/exploration.hpp"
#include "sim/batch/measurement.hpp"
#include "sim/batch/studies.hpp"

/// A search for the best plans of a study of which there are too many to simulate all.
///
/// It is successive halving: see halving.hpp. The cheaper settings are the study's `question.cheaper`; by default, for
/// trainings, one iteration from a standing start. To begin with, plans are ranked by their closed forms, which costs
/// nothing, where every plan has one that tells the objective; else they are drawn. Points at a cheaper setting are in
/// the store as another study, "NAME (SETTING)".
namespace syncline::batch {

struct Search {
    std::vector<std::size_t> kept;  ///< places in `fitting` of those that were simulated as the study says
    std::size_t first = 0;          ///< how many were simulated at all
    std::vector<Stage> stages;
};

/// `fitting`: the plans that can be simulated. `budget`: simulations, fewer than there are points.
Search search(const PlannedStudy& planned, const std::vector<Plan>& fitting, std::int64_t budget, std::uint64_t seed,
              Measurement& measurement);

}  // namespace syncline::batch

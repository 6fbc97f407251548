#pragma once

#include <vector>

#include "sim/output/json_text.hpp"
#include "sim/validation/accuracy.hpp"
#include "sim/validation/chosen_rows.hpp"

/// Parts of the JSON output that several files share.
namespace syncline::validation {

Json sample_object(const Sample& sample);
Json figures_object(const AccuracyFigures& figures);
/// Returns the list of parameters with their values.
Json solutions_object(const Validation& one, const std::vector<Solution>& parameters);
/// Returns the list of assumptions, with their figures.
Json assumptions_object(const Validation& one);
/// Returns the list of mechanisms, with the figures of each point without it. There must be a point.
Json mechanisms_object(const std::vector<Validation>& points);

}  // namespace syncline::validation

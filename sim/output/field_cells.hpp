#pragma once

#include <string>

#include "sim/output/field_units.hpp"

/// Fields of results in tables for people: the heading has no unit where the cells have one.
namespace syncline::text {

/// Returns "completion time" of completion_time_s, "throughput (samples/s)" of throughput_samples_per_s, and
/// "iteration time mean" of iteration_time_s_mean, a column of grouped results. Any other name stays as it is, unless
/// its unit is known.
std::string heading_of(const std::string& field, Unit unit = Unit::number);

/// Formats times, sizes and bandwidths with scaled units, other numbers with up to six digits and without a unit.
std::string cell_of(double value, Unit unit);

}  // namespace syncline::text

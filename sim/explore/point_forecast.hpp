#pragma once

#include <vector>

#include "sim/study/study.hpp"

/// Forecasts of points without simulation.
namespace syncline::batch {

/// Returns figures by closed form, named as in results: for a training `iteration_time_s`, `throughput_samples_per_s`,
/// `device_time_s` and `cost` (without prices equal to the former), for an exchange `completion_time_s`, its bandwidths
/// and `device_time_s`. Returns nothing if there is no closed form.
std::vector<config::Setting> forecast(const config::StudyPoint& point);

}  // namespace syncline::batch

#pragma once

#include <vector>

#include "sim/config/study.hpp"

/// What is known of a point without simulating it.
namespace syncline::batch {

/// Figures by closed form, named as results have them: of a training `iteration_time_s`, `throughput_samples_per_s`,
/// `device_time_s` and `cost` (without prices the same), of an exchange `completion_time_s`, its bandwidths and
/// `device_time_s`. Nothing where there is no closed form.
std::vector<config::Setting> forecast(const config::StudyPoint& point);

}  // namespace syncline::batch

#pragma once

#include <vector>

#include "sim/lesson/exam.hpp"

namespace syncline::cli {

/// Simulates the lesson's scenario with the exam's settings. Returns the value of each field that is asked for. Throws
/// ConfigError if the settings do not fit the scenario or a field has no value.
std::vector<double> simulated(const lesson::Exam& exam, const std::string& scenario);

}  // namespace syncline::cli

#pragma once

#include <functional>
#include <string>

#include "sim/store/database.hpp"

/// Visits the numbers, texts, flags (0 or 1) and nulls of a JSON object, by path: `closed_form.iteration_time_s`. The
/// content of lists is left out. Throws std::invalid_argument if the text is something else.
namespace syncline::batch {

void each_scalar(const std::string& json, const std::function<void(const std::string& path, Value value)>& visit);

}  // namespace syncline::batch

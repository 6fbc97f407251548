#pragma once

#include <string>

#include "sim/validation/validation_text.hpp"

namespace syncline {

/// Returns the output of `syncline validate` as an HTML page: the accuracy of predictions, predicted / measured for
/// every scenario, and for each scenario its source, parameters, rows and leave-one-out sensitivity. The page's numbers
/// are those of to_json(Points). See report.hpp.
std::string report_page(const validation::Points& points);

}  // namespace syncline

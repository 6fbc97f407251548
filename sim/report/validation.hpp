#pragma once

#include <string>

#include "sim/validation/show.hpp"

namespace syncline {

/// What `syncline validate` shows as one page of HTML: how accurate predictions are, predicted over measured for every
/// scenario, and of each its source, parameters, rows and what leaving one out changes. The page's numbers are those of
/// to_json(Points). See report.hpp.
std::string report_page(const validation::Points& points);

}  // namespace syncline

#pragma once

#include "sim/config/document.hpp"

namespace syncline::config {

/// Takes out of a scenario's document, in which every file is expanded, what makes no difference to its simulation:
/// names and sources, and calibrations of other workloads than its own. What stands in lists keeps its names, which
/// others may refer to. The document is then for comparing, no longer a scenario.
void forget_names(Node& document);

}  // namespace syncline::config

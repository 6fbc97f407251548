#pragma once

#include "sim/document/document.hpp"

namespace syncline::config {

/// Removes from a scenario's document, in which every file is expanded, what does not affect its simulation: names and
/// sources, and calibrations of other workloads. Items of lists keep their names, to which others may refer. The
/// document can then only be compared; it is no longer a scenario.
void forget_names(Node& document);

}  // namespace syncline::config

#pragma once

#include <string>

#include "sim/platform/cluster.hpp"

namespace syncline {

/// Returns a self-contained SVG picture of a cluster as people draw them: one node in full, with its devices, the links
/// between them and its ports; the switches above it by level, with what leads up and down; and the number of equal
/// others. Switches of shapes other than star, rails and fat tree are one box.
std::string cluster_svg(const Cluster& cluster);

}  // namespace syncline

#pragma once

#include "sim/document/fields.hpp"
#include "sim/platform/cluster.hpp"

/// Keys of a mesh, one of the patterns of links inside a node: pairs of devices, and the PCIe beside them.
namespace syncline::config {

/// Reads `pairs`, `pcie` and `devices_per_switch` of `links`, whose other keys are read before. Rejects pairs of
/// unknown devices, pairs that are listed twice, and devices between which there is neither a path nor PCIe.
void describe_mesh(Fields& links, NodeDesign& node);

}  // namespace syncline::config

#pragma once

#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/import/findings.hpp"
#include "sim/import/machine.hpp"

namespace syncline::config {

/// Replaces a platform's name by its content, in which files have names that hold anywhere. Throws ConfigError.
void open_platform(Assembly& assembly, Node& platform);

/// Returns the platform of a node that a file describes: what the platform that `assignments` name has besides, with
/// the network of another file, if `network` is not a null, changed by their keys. Of several names the last counts,
/// which leaves `assignments`. Throws ConfigError.
Node platform_of(Assembly& assembly, const Machine& machine, const Node& network, std::vector<std::string>& assignments,
                 Findings& findings);

}  // namespace syncline::config

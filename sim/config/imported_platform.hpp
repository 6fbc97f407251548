#pragma once

#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/import/findings.hpp"
#include "sim/import/machine.hpp"

namespace syncline::config {

/// Returns the platform of a node that a file describes: what the platform that `assignments` name has besides, changed
/// by their keys. Of several names the last counts, which leaves `assignments`. Throws ConfigError.
Node platform_of(Assembly& assembly, const Machine& machine, std::vector<std::string>& assignments, Findings& findings);

}  // namespace syncline::config

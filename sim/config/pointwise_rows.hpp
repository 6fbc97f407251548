#pragma once

#include <string>
#include <vector>

#include "sim/platform/pointwise_table.hpp"

namespace syncline::config {

/// Reads times of kernels that are bound by the memory: the header `kind,bytes,seconds`, then a line for each; lines
/// that begin with `#` are comments. `path` is shown in errors. Throws ConfigError.
std::vector<PointwiseTable::Row> read_pointwise(const std::string& path, const std::string& text);

}  // namespace syncline::config

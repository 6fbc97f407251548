#pragma once

#include <string>
#include <vector>

#include "sim/platform/grouped_products.hpp"

namespace syncline::config {

/// Reads measured products of experts: the header `pass,groups,m,n,k,tflops`, then a line for each, (m × k) times
/// (k × n) in each pass; lines that begin with `#` are comments. `path` is shown in errors. Throws ConfigError.
std::vector<MeasuredGroup> read_grouped_products(const std::string& path, const std::string& text);

}  // namespace syncline::config

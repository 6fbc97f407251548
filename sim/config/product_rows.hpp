#pragma once

#include <string>
#include <vector>

#include "sim/platform/product_table.hpp"

namespace syncline::config {

/// Reads measured matrix products: the header `batch,m,n,k,tflops`, or the same with `factors` before, then a line for
/// each; lines that begin with `#` are comments. Without the column the factors have 16 bits. `path` is shown in
/// errors. Throws ConfigError.
std::vector<MeasuredProduct> read_products(const std::string& path, const std::string& text);

}  // namespace syncline::config

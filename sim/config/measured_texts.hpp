#pragma once

#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/config/document.hpp"

/// Other ways to write down what was measured, as the key `measured` (measured.hpp) would have it.
namespace syncline::config {

/// A table in CSV (RFC 4180): its last column is a field of the result, `variant` is the variant, other columns are
/// keys. Every row calibrates.
///
///     variant,training.ranks,throughput_samples_per_s
///     ring,2,305.5
bool is_measured_table(const std::string& path);
/// What is wrong with it is reported to `assembly`; then it is a null.
Node measured_table(Assembly& assembly, const std::string& path);

/// Puts parameters `KEY=LEAST..MOST UNIT`, found on all rows that calibrate, in place of those that `measured` has.
void replace_parameters(Assembly& assembly, Node& measured, const std::vector<std::string>& texts);

}  // namespace syncline::config

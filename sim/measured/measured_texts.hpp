#pragma once

#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/config/measured_keys.hpp"
#include "sim/document/document.hpp"

/// Reads measurements from other forms than the key `measured` (measured.hpp), and converts them to its content.
namespace syncline::config {

/// Adds an entry with the place of its value.
void put(Node& mapping, const char* key, Node value);

/// Returns whether the file is a table in CSV (RFC 4180) of calibration rows: its last column is a field of the result,
/// `variant` is the variant, and other columns are keys: `variant,training.ranks,throughput_samples_per_s`.
bool is_measured_table(const std::string& path);
/// Reads such a table. Reports errors to `assembly`, and then returns a null.
Node measured_table(Assembly& assembly, const std::string& path);

/// Replaces the key `table` of `measured` by series: one for each variant in the table, after those that are written.
/// Values keep their places in the CSV file, where errors in them are reported. An empty cell leaves its key as it is.
/// Returns the rows that are left out. Reports errors to `assembly`.
std::vector<RowsLeftOut> expand_table(Assembly& assembly, Node& measured);

/// Replaces the parameters of `measured` by `KEY=LEAST..MOST UNIT`, which are estimated from all calibration rows.
void replace_parameters(Assembly& assembly, Node& measured, const std::vector<std::string>& texts);

}  // namespace syncline::config

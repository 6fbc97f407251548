#pragma once

#include <string>

#include "sim/output/columns.hpp"
#include "sim/store/database.hpp"

/// Formats rows of a query as text. CSV and JSON have unrounded numbers; the table is for reading.
namespace syncline::batch {

struct Rows;

/// Returns a value as a field of CSV.
std::string field_of(const Value& value);

std::string to_csv(const Rows& rows);
/// Returns `{"schema_version": …, "points": [{column: value, …}, …]}`
std::string to_json(const Rows& rows);
/// Returns one object per row, each on one line.
std::string to_json_lines(const Rows& rows);
/// Returns a table with times, sizes and bandwidths in scaled units, and other numbers with six digits.
std::string to_table(const Rows& rows, const text::TableLayout& layout = {});

}  // namespace syncline::batch

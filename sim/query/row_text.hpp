#pragma once

#include <string>

#include "sim/output/columns.hpp"
#include "sim/output/json_text.hpp"

/// Formats rows of a query as text. CSV and JSON have unrounded numbers; the table is for reading.
namespace syncline::batch {

struct Rows;

/// Returns `[{column: value, …}, …]`.
Json list_of(const Rows& rows);

std::string to_csv(const Rows& rows);
/// Returns `{"schema_version": …, "points": …}`, with such a list.
std::string to_json(const Rows& rows);
/// Returns one object per row, each on one line.
std::string to_json_lines(const Rows& rows);
/// Returns a table with times, sizes and bandwidths in scaled units, and other numbers with six digits.
std::string to_table(const Rows& rows, const text::TableLayout& layout = {});

}  // namespace syncline::batch

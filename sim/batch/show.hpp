#pragma once

#include <string>

#include "sim/batch/database.hpp"

/// Rows of a query as text. CSV and JSON have numbers as they are; the table is for people.
namespace syncline::batch {

struct Rows;

/// A value as a field of CSV.
std::string field_of(const Value& value);

std::string to_csv(const Rows& rows);
/// `{"schema_version": …, "points": [{column: value, …}, …]}`
std::string to_json(const Rows& rows);
/// One object on a line for each row.
std::string to_json_lines(const Rows& rows);
/// Times and bandwidths with scaled units, other numbers with six digits.
std::string to_table(const Rows& rows);

}  // namespace syncline::batch

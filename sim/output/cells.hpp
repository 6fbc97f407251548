#pragma once

#include <fmt/format.h>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/output/columns.hpp"

/// Building blocks of writers: table cells and CSV fields.
namespace syncline::text {

using Row = std::vector<std::string>;

/// Formats a table whose first row is the header. The first column and the last `left` columns are left-aligned, others
/// right-aligned.
std::string aligned(const std::vector<Row>& rows, std::size_t left = 0, const TableLayout& layout = {});

std::string seconds(double value);
std::string seconds(const std::optional<double>& value);
std::string bytes(std::uint64_t value);
std::string bandwidth(const std::optional<double>& value);

/// Quotes a CSV field according to RFC 4180.
std::string quoted(const std::string& text);
/// Formats a number with the fewest digits that read back as the same number.
std::string field(double value);
std::string field(const std::optional<double>& value);
template <class Integer>
std::string field(Integer value) requires std::is_integral_v<Integer> {
    return fmt::format("{}", value);
}
/// Joins fields to a line of CSV.
std::string line(const std::vector<std::string>& fields);

}  // namespace syncline::text

#pragma once

#include <fmt/format.h>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/base/units.hpp"

/// What writers put results together from: the cells of tables for people and the fields of CSV.
namespace syncline::text {

using Row = std::vector<std::string>;

/// Columns as wide as their widest cell; the first is flush left, the last `left` too, others are flush right. The
/// first row is the header.
std::string aligned(const std::vector<Row>& rows, std::size_t left = 0);

std::string seconds(double value);
std::string seconds(const std::optional<double>& value);
std::string bytes(std::uint64_t value);
std::string bandwidth(const std::optional<double>& value);

/// A field as RFC 4180 wants it.
std::string quoted(const std::string& text);
/// The shortest digits that read back as the same number.
std::string field(double value);
std::string field(const std::optional<double>& value);
template <class Integer>
std::string field(Integer value) requires std::is_integral_v<Integer> {
    return fmt::format("{}", value);
}
/// A line of CSV.
std::string line(const std::vector<std::string>& fields);

}  // namespace syncline::text

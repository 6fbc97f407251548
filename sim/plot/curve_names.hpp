#pragma once

#include <string>
#include <vector>

#include "sim/plot/curves.hpp"

/// Texts of values and curves.
namespace syncline::batch {

/// Returns a value as it is stored; "none" if there is none.
std::string text_of(const Value& value);

/// Returns the unit in which number_of() returns `text`, a quantity; empty: it is none.
std::string base_unit(const std::string& text);

/// Returns `64 KiB` for 65536.
std::string binary_size(double bytes);

/// Returns the name of a curve: the values of its columns, those of results with their units ("ring, 64 KiB"). Values
/// that say nothing alone, plain numbers and flags, follow their column's name if there are several.
std::string curve_name(const Table& table, const std::vector<std::string>& columns, const std::vector<Value>& values);

/// Returns the names of the curves that can hardly be told apart, in groups: "ring = segmented-ring; a = b".
std::string coinciding(const std::vector<Curve>& curves);

}  // namespace syncline::batch

#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/output/columns.hpp"

/// Bars of characters for terminals: where the time of each iteration goes.
namespace syncline::text {

/// A part of an iteration (Breakdown): it fills its share of the bar with a character, █, ▓, ▒ or ░.
struct BarPart {
    const char* name;
    const char* block;
};
extern const std::array<BarPart, 4> bar_parts;  ///< compute, exposed communication, waiting, idle

/// Returns a line for each result, its name, bar and time, and one that says what the characters mean. The longest
/// iteration has the longest bar; parts end at the nearest whole character. Empty if `layout` has no bars, or leaves
/// fewer than 10 characters for one.
std::string time_bars(const std::vector<const Result*>& results, const TableLayout& layout);

}  // namespace syncline::text

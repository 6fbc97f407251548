#pragma once

#include <string>

#include "sim/planning/search.hpp"

/// A search in words, for standard error, and as CSV.
namespace syncline::planning {

/// Number of plans that are listed.
inline constexpr std::size_t listed = 10;

/// Returns the counts, the reasons for which plans were skipped, and the best plans, one line each.
std::string to_text(const std::string& variant, const Found& found);

/// Returns the columns of to_csv().
std::string csv_head();
/// Returns a row for each plan that fits.
std::string to_csv(const std::string& variant, const Found& found);

}  // namespace syncline::planning

#pragma once

#include <cstdint>
#include <vector>

#include "sim/config/fields.hpp"

/// Bounds of what a workload counts. Sums, and their bytes, then stay within 64 bits, and a slip is told from a model.
namespace syncline::config {

/// Of anything counted, in one layer or in all together.
inline constexpr std::int64_t largest_count = 100'000'000'000'000'000;
/// Of one side of anything: channels, pixels, words, units.
inline constexpr std::int64_t largest_extent = 1 << 24;

/// Rejects `key` where one of its values is no extent.
void check_extents(Fields& fields, const char* key, const std::vector<std::int64_t>& values);

/// Rejects `key` where so many of `what` ("parameters") are no count.
void check_count(Fields& fields, const char* key, double count, const char* what);

/// In floating point, so that it cannot overflow; 1 of nothing.
double product(const std::vector<std::int64_t>& values);

}  // namespace syncline::config

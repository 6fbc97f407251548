#pragma once

#include <cstdint>
#include <vector>

#include "sim/document/fields.hpp"

/// Bounds of the counts of a workload. They keep sums, and their bytes, within 64 bits, and reveal typing errors.
namespace syncline::config {

/// Maximum of any count, in one layer or in all layers together: its bytes stay within 64 bits.
inline constexpr std::int64_t largest_count = 100'000'000'000'000'000;
/// Maximum number of multiply-accumulates of the forward pass, in one layer or in all layers together: the largest
/// round number within 64 bits. They grow with the square of a sequence; 8B parameters and 4 Mi tokens have 5e18.
inline constexpr std::int64_t largest_macs = 9'000'000'000'000'000'000;
/// Maximum number of channels: NCCL's MAXCHANNELS.
inline constexpr std::int64_t most_channels = 64;

/// Maximum of one dimension: channels, pixels, words, units.
inline constexpr std::int64_t largest_extent = 1 << 24;

/// Rejects `key` if one of its values exceeds the largest extent.
void check_extents(Fields& fields, const char* key, const std::vector<std::int64_t>& values);

/// Rejects `key` if `count` of `what` ("parameters") exceeds the largest count.
void check_count(Fields& fields, const char* key, double count, const char* what);
/// Rejects `key` if there are more multiply-accumulates than the largest number of them.
void check_macs(Fields& fields, const char* key, double macs);

/// Returns the product, in floating point so that it cannot overflow; 1 of no values.
double product(const std::vector<std::int64_t>& values);

}  // namespace syncline::config

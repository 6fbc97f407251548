#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A geometric range of sizes, as benchmarks take it: `4B..512MiB` is 4 B, 8 B, 16 B, … as far as 512 MiB, `4B..1MB*4`
/// goes up by another factor. The end is a size only if a step hits it. Sizes are rounded down to whole bytes, and one
/// that comes twice is left out.
namespace syncline::config {

/// What came of reading a range: sizes, or what is wrong and how to mend it.
struct SizeRange {
    std::vector<std::uint64_t> sizes;
    std::string error;
    std::string hint;
};

inline constexpr std::size_t most_sizes = 1000;
inline constexpr double largest_size = 1e15;

bool is_size_range(std::string_view text);
SizeRange parse_size_range(std::string_view text);

}  // namespace syncline::config

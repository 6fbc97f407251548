#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A geometric range of sizes: `4B..512MiB` is 4 B, 8 B, … up to 512 MiB, if a step reaches it; `4B..1MB*4` uses
/// another factor. Sizes are rounded down to whole bytes, and duplicates are dropped.
namespace syncline::config {

/// The result of reading a range: sizes, or an error with a hint.
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

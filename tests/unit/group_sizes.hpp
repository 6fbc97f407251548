#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/sanitized.hpp"

namespace syncline {

/// Returns 1 … 33, and 64. Under sanitizers, where large groups take minutes, it returns 1 … 17, and 33.
inline std::vector<std::uint32_t> group_sizes() {
#ifdef SYNCLINE_SANITIZED
    constexpr std::uint32_t all_up_to = 17, last = 33;
#else
    constexpr std::uint32_t all_up_to = 33, last = 64;
#endif
    std::vector<std::uint32_t> sizes(all_up_to);
    std::iota(sizes.begin(), sizes.end(), 1u);
    sizes.push_back(last);
    return sizes;
}

}  // namespace syncline

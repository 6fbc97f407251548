#pragma once

#include <cstdint>

namespace syncline {

/// Returns a count as a floating-point number, for products that exceed integers and for parts.
constexpr double real(std::int64_t count) {
    return static_cast<double>(count);
}

}  // namespace syncline

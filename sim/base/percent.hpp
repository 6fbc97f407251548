#pragma once

#include <fmt/format.h>
#include <cmath>
#include <string>

namespace syncline {

/// Formats a share for people: "12.3 %", "< 0.1 %" if it is small, and "0 %" only if it is zero.
inline std::string percent(double share) {
    if (share == 0) return "0 %";
    if (std::abs(share) < 0.001) return share > 0 ? "< 0.1 %" : "> -0.1 %";
    return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace syncline

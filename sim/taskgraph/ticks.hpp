#pragma once

#include <cmath>

namespace syncline {

/// Times are sums of rounded terms: times that differ by at most this fraction are considered equal.
inline constexpr double tick_rounding = 1e-9;

/// Returns the next tick of a clock with this period: the first multiple of the period that is not before `since_s`,
/// both counted from the clock's start. Zero is a tick.
///
/// A time within `tick_rounding` of a tick counts as at the tick, so the result may be slightly before `since_s`.
inline double next_tick(double since_s, double period_s) {
    return std::ceil(since_s / period_s * (1 - tick_rounding)) * period_s;
}

}  // namespace syncline

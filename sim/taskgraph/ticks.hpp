#pragma once

#include <cmath>

namespace syncline {

/// Times are sums of rounded terms: those that differ by no more than this part of themselves are the same.
inline constexpr double tick_rounding = 1e-9;

/// When a clock next ticks that does so every `period_s`: the first multiple of the period that is not before
/// `since_s`, both counted from the clock's start. Zero is one.
///
/// A time within `tick_rounding` of a tick is at it, so that the result may be that little before `since_s`.
inline double next_tick(double since_s, double period_s) {
    return std::ceil(since_s / period_s * (1 - tick_rounding)) * period_s;
}

}  // namespace syncline

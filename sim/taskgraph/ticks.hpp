#pragma once

#include <cmath>

namespace syncline {

/// When a clock next ticks that does so every `period_s`: the first multiple of the period that is not before
/// `since_s`, both counted from the clock's start. Zero is one.
///
/// Times are sums of rounded terms: what is later than a tick by less than a billionth of the time since the start
/// still makes it, and is then told a time that much before its own.
inline double next_tick(double since_s, double period_s) {
    return std::ceil(since_s / period_s * (1 - 1e-9)) * period_s;
}

}  // namespace syncline

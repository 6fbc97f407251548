#pragma once

#include <iterator>

/// Interpolation in measured points, which a map has by their places.
namespace syncline {

/// Returns the value at x: linear between two points, that of the nearest point outside of them. `value` gives that of
/// a point. There must be a point.
template <class Points, class Value>
double between(const Points& points, double x, const Value& value) {
    const auto above = points.lower_bound(x);
    if (above == points.begin()) return value(above->second);
    const auto below = std::prev(above);
    if (above == points.end()) return value(below->second);
    const double part = (x - below->first) / (above->first - below->first);
    return value(below->second) * (1 - part) + value(above->second) * part;
}

}  // namespace syncline

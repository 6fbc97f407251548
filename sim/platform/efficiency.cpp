#include "sim/platform/efficiency.hpp"

#include <algorithm>
#include <cmath>

namespace syncline {

double EfficiencyCurve::at(double x) const {
    const auto next = std::find_if(points.begin(), points.end(), [&](const Point& point) { return point.at >= x; });
    if (next == points.end()) return points.back().fraction;
    if (next == points.begin()) return next->fraction;
    const Point& last = *std::prev(next);
    const double way = std::log(x / last.at) / std::log(next->at / last.at);
    return last.fraction * std::pow(next->fraction / last.fraction, way);
}

}  // namespace syncline

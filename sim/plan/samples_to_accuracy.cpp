#include "sim/plan/samples_to_accuracy.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>

namespace syncline {

namespace {

using ByBatch = std::map<double, double>;

/// Returns what is between `low` and `high`: 0 is `low`.
double between(double low, double high, double part) {
    return low + part * (high - low);
}

/// Returns the item of `map` that is at `key` or before it, and the one at it or behind; two ends if there is none.
template <class Map>
auto neighbours(const Map& map, double key) {
    const auto above = map.lower_bound(key);
    if (above == map.end() || above->first == key) return std::pair{above, above};
    if (above == map.begin()) return std::pair{map.end(), map.end()};
    return std::pair{std::prev(above), above};
}

/// Returns "32 to 128", or "32".
template <class Map>
std::string range_of(const Map& map) {
    if (map.empty()) return "nothing";
    const double first = map.begin()->first, last = map.rbegin()->first;
    return first == last ? fmt::format("{:g}", first) : fmt::format("{:g} to {:g}", first, last);
}

SamplesNeeded by_batch(const ByBatch& points, double batch, double staleness) {
    const auto [low, high] = neighbours(points, batch);
    if (low == points.end())
        return {{},
                fmt::format("a batch of {:g} is outside of the curve, which has {} samples at staleness {:g}", batch,
                            range_of(points), staleness)};
    if (low == high) return {low->second, ""};
    const double part = std::log(batch / low->first) / std::log(high->first / low->first);
    return {std::exp(between(std::log(low->second), std::log(high->second), part)), ""};
}

}  // namespace

SamplesNeeded samples_to_accuracy(const std::vector<AccuracyPoint>& points, double batch, double staleness) {
    std::map<double, ByBatch> curves;  // by staleness
    for (const AccuracyPoint& point : points) curves[point.staleness][point.batch] = point.samples;
    const auto [fresh, stale] = neighbours(curves, staleness);
    if (fresh == curves.end())
        return {
            {},
            fmt::format("a staleness of {:.3g} is outside of the curve, which has {}", staleness, range_of(curves))};
    const SamplesNeeded least = by_batch(fresh->second, batch, fresh->first);
    if (!least.samples || fresh == stale) return least;
    const SamplesNeeded most = by_batch(stale->second, batch, stale->first);
    if (!most.samples) return most;
    return {between(*least.samples, *most.samples, (staleness - fresh->first) / (stale->first - fresh->first)), ""};
}

}  // namespace syncline

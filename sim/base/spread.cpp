#include "sim/base/spread.hpp"

#include <algorithm>
#include <numeric>

namespace syncline {

namespace {

double quantile(const std::vector<double>& sorted, double order) {
    const double position = static_cast<double>(sorted.size() - 1) * order;
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double part = position - static_cast<double>(below);
    return sorted[below] + part * (sorted[above] - sorted[below]);
}

}  // namespace

Spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    // Equal values have exactly this mean: a sum of differences from the smallest does not round.
    const double least = values.front();
    const double above = std::accumulate(values.begin(), values.end(), 0.0,
                                         [&](double sum, double value) { return sum + value - least; });
    const double mean = least + above / static_cast<double>(values.size());
    return {values.size(), mean, quantile(values, 0.5), quantile(values, 0.05), quantile(values, 0.95)};
}

}  // namespace syncline

#include "sim/explore/importance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace syncline::batch {

MainEffect main_effect(const std::vector<std::size_t>& value_of, const std::vector<double>& f) {
    if (f.empty()) return {};
    // Differences from the first value are exactly 0 if nothing varies, and large values lose no digits.
    const double origin = f.front();
    const std::size_t values = *std::max_element(value_of.begin(), value_of.end()) + 1;
    std::vector<double> sums(values, 0), counts(values, 0);
    double sum = 0;
    for (std::size_t p = 0; p < f.size(); ++p) {
        sums[value_of[p]] += f[p] - origin;
        counts[value_of[p]] += 1;
        sum += f[p] - origin;
    }
    const double mean = sum / static_cast<double>(f.size());

    MainEffect effect;
    double between = 0, total = 0;
    for (std::size_t v = 0; v < values; ++v) {
        const double mean_of_value = counts[v] > 0 ? sums[v] / counts[v] : std::numeric_limits<double>::quiet_NaN();
        effect.means.push_back(origin + mean_of_value);
        if (counts[v] > 0) between += counts[v] * (mean_of_value - mean) * (mean_of_value - mean);
    }
    for (const double value : f) total += (value - origin - mean) * (value - origin - mean);
    if (total > 0) effect.share = between / total;
    return effect;
}

double association(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
    std::map<std::size_t, double> rows, columns;
    std::map<std::pair<std::size_t, std::size_t>, double> cells;
    for (std::size_t p = 0; p < a.size(); ++p) {
        ++rows[a[p]];
        ++columns[b[p]];
        ++cells[{a[p], b[p]}];
    }
    const std::size_t least = std::min(rows.size(), columns.size());
    if (least < 2) return 0;
    double chi_squared = -1;  // over n: the sum of n_ij²/(n_i·n_j), less 1
    for (const auto& [cell, count] : cells)
        chi_squared += count / rows.at(cell.first) * (count / columns.at(cell.second));
    return std::sqrt(std::max(0.0, chi_squared) / static_cast<double>(least - 1));
}

}  // namespace syncline::batch

#include "sim/validation/chosen_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/validation/simulations.hpp"

namespace syncline::validation {

namespace {

using Rows = std::vector<bool>;  ///< by row: whether it is selected

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

Rows rows_of(const config::MeasuredScenario& scenario, const std::vector<std::string>& names) {
    const config::Measurements& all = scenario.measurements();
    Rows rows;
    for (const config::MeasuredRow& row : all.rows)
        rows.push_back(names.empty() || contains(names, scenario.name()) ||
                       contains(names, all.series[row.series].name));
    return rows;
}

/// Keeps a sample of the predicted rows in `rows`, and no calibration row.
Sample draw(const std::vector<config::MeasuredScenario>& scenarios, std::vector<Rows>& rows, std::size_t wanted,
            std::uint64_t seed) {
    std::vector<std::vector<std::pair<std::uint64_t, std::size_t>>> draws;  // of each scenario: number drawn, and row
    std::vector<std::size_t> sizes;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        auto& mine = draws.emplace_back();
        for (std::size_t row = 0; row < rows[i].size(); ++row)
            if (rows[i][row] && !scenarios[i].measurements().rows[row].calibrates)
                mine.emplace_back(repeated_seed(seed, ++number), row);
        sizes.push_back(mine.size());
    }
    const std::size_t of = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    const std::vector<std::size_t> taken = shares(sizes, std::min(wanted, of));
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
        std::sort(draws[i].begin(), draws[i].end());
        rows[i].assign(rows[i].size(), false);
        for (std::size_t j = 0; j < taken[i]; ++j) rows[i][draws[i][j].second] = true;
    }
    return {std::min(wanted, of), of, seed};
}

}  // namespace

std::vector<std::string> series_names(const std::vector<config::MeasuredScenario>& scenarios) {
    std::vector<std::string> names;
    for (const config::MeasuredScenario& scenario : scenarios) {
        names.push_back(scenario.name());
        for (const config::MeasuredSeries& series : scenario.measurements().series)
            if (!contains(names, series.name)) names.push_back(series.name);
    }
    return names;
}

std::vector<std::size_t> shares(const std::vector<std::size_t>& sizes, std::size_t total) {
    const std::size_t sum = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    std::vector<std::size_t> parts, order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (sum == 0) return std::vector<std::size_t>(sizes.size());
    for (const std::size_t size : sizes) parts.push_back(size * total / sum);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sizes[a] * total % sum > sizes[b] * total % sum; });
    const std::size_t rest = total - std::accumulate(parts.begin(), parts.end(), std::size_t{0});
    for (std::size_t i = 0; i < rest; ++i) ++parts[order[i]];
    return parts;
}

std::optional<Sample> select(std::vector<config::MeasuredScenario>& scenarios, const RowSelection& selection) {
    if (selection.series.empty() && !selection.sample) return {};
    std::vector<Rows> rows;
    for (const config::MeasuredScenario& scenario : scenarios) rows.push_back(rows_of(scenario, selection.series));
    std::optional<Sample> sample;
    if (selection.sample) sample = draw(scenarios, rows, *selection.sample, selection.seed);
    for (std::size_t i = 0; i < scenarios.size(); ++i) scenarios[i].keep(std::move(rows[i]));
    std::erase_if(scenarios,
                  [](const config::MeasuredScenario& scenario) { return scenario.measurements().rows.empty(); });
    return sample;
}

}  // namespace syncline::validation

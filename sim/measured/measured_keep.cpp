#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/measured/measured_parts.hpp"

// Leaving out rows that are not wanted.

namespace syncline::config {

namespace {

/// Removes the items that are not kept. Returns the new number of each that is.
template <class Item>
std::vector<std::size_t> keep_items(std::vector<Item>& items, const std::vector<bool>& kept) {
    std::vector<std::size_t> numbers(items.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!kept[i]) continue;
        if (next != i) items[next] = std::move(items[i]);
        numbers[i] = next++;
    }
    items.resize(next);
    return numbers;
}

/// Adds the rows from which the parameters of kept rows are estimated. Returns which parameters these are.
std::vector<bool> needed(const Measurements& all, std::vector<bool>& rows) {
    std::vector<bool> parameters(all.parameters.size());
    for (bool more = true; more;) {
        more = false;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const MeasuredParameter& parameter = all.parameters[i];
            const auto acts_on = [&](const MeasuredRow& row) {
                return rows[static_cast<std::size_t>(&row - all.rows.data())] && parameter.applies_to(row.series);
            };
            if (parameters[i] || std::none_of(all.rows.begin(), all.rows.end(), acts_on)) continue;
            parameters[i] = more = true;
            for (const std::size_t row : parameter.rows) rows[row] = true;
        }
    }
    return parameters;
}

}  // namespace

void MeasuredScenario::keep(std::vector<bool> rows) {
    Parts& parts = *parts_;
    Measurements& all = parts.measurements;
    const std::vector<bool> parameters = needed(all, rows);
    keep_items(parts.places, rows);
    keep_items(parts.parameter_places, parameters);
    const std::vector<std::size_t> numbers = keep_items(all.rows, rows);
    keep_items(all.parameters, parameters);
    for (MeasuredParameter& parameter : all.parameters)
        for (std::size_t& row : parameter.rows) row = numbers[row];
}

}  // namespace syncline::config

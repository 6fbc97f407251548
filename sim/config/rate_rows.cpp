#include "sim/config/rate_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include "sim/base/diagnostics.hpp"

namespace syncline::config {

void each_rate_row(const std::string& path, const std::string& text, const RateTable& table,
                   const std::function<void(const std::string& line, const FailAtLine& fail)>& read) {
    std::istringstream lines(text);
    std::string line;
    bool headed = false;
    for (int at = 1; std::getline(lines, line); ++at) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.empty() || line.front() == '#') continue;
        const FailAtLine fail = [&](const std::string& message, const std::string& hint) {
            throw ConfigError({{{path, at, 1, line}, message, hint}});
        };
        if (headed)
            read(line, fail);
        else if (line != table.header)
            fail(table.without, fmt::format("`{}`", table.header));
        headed = true;
    }
    if (!headed) throw ConfigError({{{path, 1, 1, ""}, "the table is empty", table.begins_with}});
}

std::optional<double> rate_number(std::string_view cell, double least, double most) {
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || !(value >= least && value <= most))
        return std::nullopt;
    return value;
}

std::optional<Factors> rate_factors(std::string_view cell) {
    const auto found = std::find_if(std::begin(all_factors), std::end(all_factors),
                                    [&](Factors factors) { return cell == word_of(factors); });
    return found == std::end(all_factors) ? std::nullopt : std::optional(*found);
}

}  // namespace syncline::config

#include "sim/config/rate_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "sim/base/diagnostics.hpp"
#include "sim/base/number.hpp"

namespace syncline::config {

std::string_view RateLine::text() {
    good_ = good_ && rest_;
    const std::string_view rest = std::exchange(rest_, std::nullopt).value_or("");
    const std::size_t comma = rest.find(',');
    if (comma != std::string_view::npos) rest_ = rest.substr(comma + 1);
    return rest.substr(0, comma);
}

double RateLine::number(double least, double most) {
    const auto value = number_in<double>(text());
    good_ = good_ && value && *value >= least && *value <= most;
    return value.value_or(0);
}

std::size_t RateLine::word(std::span<const std::string_view> words) {
    const auto found = std::find(words.begin(), words.end(), text());
    good_ = good_ && found != words.end();
    return static_cast<std::size_t>(found - words.begin());
}

std::optional<Factors> RateLine::factors() {
    const std::string_view cell = text();
    const auto found = std::find_if(std::begin(all_factors), std::end(all_factors),
                                    [&](Factors factors) { return cell == word_of(factors); });
    return found == std::end(all_factors) ? std::nullopt : std::optional(*found);
}

void each_rate_row(const std::string& path, const std::string& text, const RateTable& table,
                   const std::function<void(RateLine& line, const FailAtLine& fail)>& read) {
    std::istringstream lines(text);
    std::string line;
    bool headed = false;
    for (int at = 1; std::getline(lines, line); ++at) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.empty() || line.front() == '#') continue;
        const FailAtLine fail = [&](const std::string& message, const std::string& hint) {
            throw ConfigError({{{path, at, 1, line}, message, hint}});
        };
        if (RateLine cells(line); headed)
            read(cells, fail);
        else if (line != table.header)
            fail(table.without, fmt::format("`{}`", table.header));
        headed = true;
    }
    if (!headed) throw ConfigError({{{path, 1, 1, ""}, "the table is empty", table.begins_with}});
}

}  // namespace syncline::config

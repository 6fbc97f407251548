#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/platform/factors.hpp"

namespace syncline::config {

/// A table of measured rates as comma-separated text.
struct RateTable {
    std::string_view header;   ///< its first line
    const char* without = "";  ///< the error if it has another one ...
    std::string begins_with;   ///< ... and the hint if it has no line
};

/// A line of such a table, whose cells are taken in order. What a wrong cell gives has no meaning: see good().
class RateLine {
public:
    explicit RateLine(std::string_view text) : rest_(text) {}

    std::string_view text();
    double number(double least = 1, double most = 1e9);
    /// Returns the index of one of the words.
    std::size_t word(std::span<const std::string_view> words);
    /// Returns the factors as word_of() has them; nothing if it names none.
    std::optional<Factors> factors();

    /// Returns whether all cells so far were as asked for, and no further ones follow.
    bool good() const { return good_ && !rest_; }

private:
    std::optional<std::string_view> rest_;  ///< nothing after the last cell
    bool good_ = true;
};

/// Calls `read` for each line after the header, with a function that throws a ConfigError there, of a message and a
/// hint. Empty lines, and those that begin with `#`, are left out. `path` is shown in errors. Throws ConfigError if the
/// header is missing.
using FailAtLine = std::function<void(const std::string& message, const std::string& hint)>;
void each_rate_row(const std::string& path, const std::string& text, const RateTable& table,
                   const std::function<void(RateLine& line, const FailAtLine& fail)>& read);

}  // namespace syncline::config

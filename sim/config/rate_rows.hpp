#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace syncline::config {

/// A table of measured rates as comma-separated text.
struct RateTable {
    std::string_view header;   ///< its first line
    const char* without = "";  ///< the error if it has another one ...
    std::string begins_with;   ///< ... and the hint if it has no line
};

/// Calls `read` for each line after the header, with its text and a function that throws a ConfigError there, of a
/// message and a hint. Empty lines, and those that begin with `#`, are left out. `path` is shown in errors. Throws
/// ConfigError if the header is missing.
using FailAtLine = std::function<void(const std::string& message, const std::string& hint)>;
void each_rate_row(const std::string& path, const std::string& text, const RateTable& table,
                   const std::function<void(const std::string& line, const FailAtLine& fail)>& read);

}  // namespace syncline::config

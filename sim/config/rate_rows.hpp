#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
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

/// Calls `read` for each line after the header, with its text and a function that throws a ConfigError there, of a
/// message and a hint. Empty lines, and those that begin with `#`, are left out. `path` is shown in errors. Throws
/// ConfigError if the header is missing.
using FailAtLine = std::function<void(const std::string& message, const std::string& hint)>;
void each_rate_row(const std::string& path, const std::string& text, const RateTable& table,
                   const std::function<void(const std::string& line, const FailAtLine& fail)>& read);

/// Returns the cells of a line; nothing if they are not exactly as many.
template <std::size_t count>
std::optional<std::array<std::string_view, count>> rate_cells(std::string_view line) {
    std::array<std::string_view, count> found;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t comma = line.find(',');
        const bool last = comma == std::string_view::npos;
        if (last != (i + 1 == count)) return std::nullopt;
        found[i] = line.substr(0, comma);
        if (!last) line.remove_prefix(comma + 1);
    }
    return found;
}

/// Returns the number in a cell; nothing if it is none from `least` to `most`.
std::optional<double> rate_number(std::string_view cell, double least = 1, double most = 1e9);

/// Returns the index of a cell's word; nothing if it is none of them.
template <std::size_t count>
std::optional<std::size_t> rate_word(std::string_view cell, const std::array<std::string_view, count>& words) {
    for (std::size_t i = 0; i < count; ++i)
        if (cell == words[i]) return i;
    return std::nullopt;
}

/// Returns the factors that a cell names, as word_of() has them; nothing if it names none.
std::optional<Factors> rate_factors(std::string_view cell);

/// The words for the passes of a product, in the order of GroupedPass and of ConvolutionPass.
inline constexpr std::array<std::string_view, 3> product_passes{"forward", "inputs", "weights"};

}  // namespace syncline::config

#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace syncline {

/// Returns the number that all of `text` is; nothing if it is none, or is beyond the type. Signs other than '-', spaces
/// and units are not accepted.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace syncline

#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/base/utf8.hpp"

/// Helpers of the JSON writers.
namespace syncline {

using Json = nlohmann::ordered_json;

inline Json number_or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

inline Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

/// Serialises `json`, indented by `indent` spaces, or on one line if it is negative. Characters that act on a terminal
/// are escaped, and bytes in names that are not UTF-8 are replaced.
inline std::string dumped(const Json& json, int indent) {
    return with_escapes(json.dump(indent, ' ', false, Json::error_handler_t::replace), "\n",
                        [](char32_t character) { return fmt::format("\\u{:04x}", std::uint32_t{character}); });
}

inline std::string one_line(const Json& json) {
    return dumped(json, -1);
}

inline std::string dumped(const Json& json) {
    return dumped(json, 2) + "\n";
}

}  // namespace syncline

#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

/// Helpers of the JSON writers.
namespace syncline {

using Json = nlohmann::ordered_json;

inline Json number_or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

inline Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

/// Serialises `json` on one line, as `dumped` does.
inline std::string one_line(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Serialises `json`. Bytes in names that are not UTF-8 are replaced.
inline std::string dumped(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace syncline

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

/// Returns the first fields of both a single collective operation and a sweep.
template <class AnyExchange>
Json exchange_fields(const AnyExchange& result) {
    return {{"operation", result.operation},
            {"algorithm", result.algorithm},
            {"overlay", text_or_null(result.overlay)},
            {"fabric", result.fabric},
            {"transport", text_or_null(result.transport)},
            {"contributors", result.contributors},
            {"receivers", result.receivers},
            {"ranks", result.ranks},
            {"rounds", result.rounds}};
}

/// Serialises `json`. Bytes in names that are not UTF-8 are replaced.
inline std::string dumped(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace syncline

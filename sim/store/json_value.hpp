#pragma once

#include <nlohmann/json.hpp>
#include <type_traits>

#include "sim/store/database.hpp"

namespace syncline::batch {

inline nlohmann::ordered_json json_of(const Value& value) {
    return std::visit(
        [](const auto& one) {
            if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::monostate>)
                return nlohmann::ordered_json(nullptr);
            else
                return nlohmann::ordered_json(one);
        },
        value);
}

}  // namespace syncline::batch

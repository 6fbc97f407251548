#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/config/document.hpp"

namespace syncline::config {

/// What came of reading a whole number: a value, or what is wrong ("'3.0' is not a whole number") and how to mend it.
struct WholeNumber {
    std::optional<std::int64_t> value;
    std::string error;
    std::string hint;
};

/// Reads plain decimal digits after at most one minus sign. YAML has other spellings, some of which are not what they
/// seem
/// (`010` is eight): they are errors.
WholeNumber parse_whole(const Node& node, std::int64_t least, std::int64_t most);

/// What stands where something else should: `'text'`, `a list`, `a mapping`, `empty`.
std::string kind_of(const Node& node);

}  // namespace syncline::config

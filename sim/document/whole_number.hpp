#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/document/document.hpp"

namespace syncline::config {

/// The result of reading a whole number: a value, or an error ("'3.0' is not a whole number") with a hint.
struct WholeNumber {
    std::optional<std::int64_t> value;
    std::string error;
    std::string hint;
};

/// Reads plain decimal digits after an optional minus sign. Other spellings of YAML, some of which are misleading
/// (`010` is eight), are errors.
WholeNumber parse_whole(const Node& node, std::int64_t least, std::int64_t most);

/// Returns the kind of a value for messages: `'text'`, `a list`, `a mapping`, `empty`.
std::string kind_of(const Node& node);

}  // namespace syncline::config

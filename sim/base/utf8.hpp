#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace syncline {

/// Takes the first character off `text`, which is not empty. Nothing is returned, and one byte taken, where the bytes
/// are not UTF-8 (RFC 3629: shortest form, no surrogates).
std::optional<char32_t> take_character(std::string_view& text);

/// How many characters `text` has; a byte that is not UTF-8 counts as one.
std::size_t count_characters(std::string_view text);

/// Control characters do things to a terminal instead of being shown (C0, DEL, C1).
constexpr bool is_control(char32_t character) {
    return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

/// Whether `text`, a name that goes to terminals and tables, holds one.
bool has_control(std::string_view text);

}  // namespace syncline

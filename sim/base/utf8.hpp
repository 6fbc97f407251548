#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace syncline {

/// Removes the first character from `text`, which must not be empty, and returns it. Returns nothing and removes one
/// byte if the bytes are not UTF-8 (RFC 3629: shortest form, no surrogates).
std::optional<char32_t> take_character(std::string_view& text);

/// Returns the bytes of a character.
std::string utf8_of(char32_t character);

/// Counts the characters of `text`; a byte that is not UTF-8 counts as one.
std::size_t count_characters(std::string_view text);

/// Returns true for control characters (C0, DEL, C1), which act on a terminal instead of being shown.
constexpr bool is_control(char32_t character) {
    return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

/// Returns true for the characters that change the direction of the text around them (Unicode's Bidi_Control), and so
/// may show one text as another.
constexpr bool is_bidi_control(char32_t character) {
    return character == 0x61c || character == 0x200e || character == 0x200f ||
           (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
}

/// Returns true for the two codes that are no characters and that XML cannot hold, not even as a reference.
constexpr bool is_noncharacter(char32_t character) {
    return character == 0xfffe || character == 0xffff;
}

/// Returns true if `text`, a name that is printed on terminals and in tables, contains a control character.
bool has_control(std::string_view text);

/// Returns `text`, which may hold anything that a file or an argument can, in a form that only shows: spaces in place
/// of control characters, "?" in place of bidirectional controls, noncharacters and bytes that are not UTF-8. The
/// characters of `kept` stay.
std::string printable(std::string_view text, std::string_view kept = "");

/// Returns `text`, which is UTF-8, with `escape` of its control characters, bidirectional controls and noncharacters in
/// place of them: it only shows, and says the same. The characters of `kept` stay.
std::string with_escapes(std::string_view text, std::string_view kept,
                         const std::function<std::string(char32_t)>& escape);

}  // namespace syncline

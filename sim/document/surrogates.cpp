#include "sim/document/surrogates.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include "sim/base/utf8.hpp"

namespace syncline::config {

namespace {

// In place of \uXXXX\uYYYY stands \e, a mark, XXXX, a mark and YYYY. Where escapes have a meaning, \e becomes the
// escape character; elsewhere it stays. Neither can have been in the text.
constexpr char escape_byte = '\x1b', half_mark = '\x01';
constexpr std::size_t half_digits = 4;
constexpr std::size_t half_length = 2 + half_digits;          // \uXXXX
constexpr std::size_t marked_length = 2 * (1 + half_digits);  // from the first mark

std::optional<char32_t> number_at(std::string_view text, std::size_t at) {
    if (at + half_digits > text.size()) return std::nullopt;
    std::uint32_t number = 0;
    const char* const begin = text.data() + at;
    const auto [end, problem] = std::from_chars(begin, begin + half_digits, number, 16);
    return problem == std::errc() && end == begin + half_digits ? std::optional<char32_t>(number) : std::nullopt;
}

/// Returns the character that is written as a pair whose digits are at these places.
std::optional<char32_t> character_at(std::string_view text, std::size_t high_at, std::size_t low_at) {
    const auto high = number_at(text, high_at), low = number_at(text, low_at);
    if (!high || !low || *high < 0xd800 || *high >= 0xdc00 || *low < 0xdc00 || *low >= 0xe000) return std::nullopt;
    return 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
}

}  // namespace

std::string without_pairs(std::string text) {
    for (auto at = text.find('\\'); at != text.npos; at = text.find('\\', at)) {
        const bool room = at + 2 * half_length <= text.size();
        if (!room || text[at + 1] != 'u' || text.compare(at + half_length, 2, "\\u") != 0 ||
            !character_at(text, at + 2, at + half_length + 2)) {
            at += 2;  // what follows a backslash belongs to it
            continue;
        }
        const std::string high = text.substr(at + 2, half_digits), low = text.substr(at + half_length + 2, half_digits);
        text.replace(at, 2 * half_length, "\\e" + (half_mark + high) + (half_mark + low));
        at += 2 * half_length;
    }
    return text;
}

std::string with_pairs(std::string scalar) {
    for (auto at = scalar.find(half_mark); at != scalar.npos; at = scalar.find(half_mark, at + 1)) {
        const auto character = character_at(scalar, at + 1, at + 2 + half_digits);
        if (!character || scalar[at + 1 + half_digits] != half_mark) continue;
        if (at >= 1 && scalar[at - 1] == escape_byte) {
            scalar.replace(at - 1, 1 + marked_length, utf8_of(*character));
        } else if (at >= 2 && scalar.compare(at - 2, 2, "\\e") == 0) {
            scalar[at - 1] = 'u';
            scalar.replace(at, 1, "");
            scalar.replace(at + half_digits, 1, "\\u");
        }
    }
    return scalar;
}

}  // namespace syncline::config

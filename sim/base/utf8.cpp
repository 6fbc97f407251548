#include "sim/base/utf8.hpp"

namespace syncline {

namespace {

struct Form {
    std::size_t length;
    char32_t bits;   ///< bits of the character in the first byte
    char32_t least;  ///< smaller values have a shorter form
};

std::optional<Form> form_of(unsigned char first) {
    if (first < 0x80) return Form{1, 0x7f, 0};
    if (first >> 5 == 0x6) return Form{2, 0x1f, 0x80};
    if (first >> 4 == 0xe) return Form{3, 0x0f, 0x800};
    if (first >> 3 == 0x1e) return Form{4, 0x07, 0x10000};
    return std::nullopt;
}

std::optional<char32_t> decode(std::string_view text, const Form& form) {
    if (text.size() < form.length) return std::nullopt;
    char32_t character = static_cast<unsigned char>(text[0]) & form.bits;
    for (const char byte : text.substr(1, form.length - 1)) {
        const auto bits = static_cast<unsigned char>(byte);
        if (bits >> 6 != 0x2) return std::nullopt;
        character = character << 6 | (bits & 0x3fu);
    }
    const bool surrogate = character >= 0xd800 && character < 0xe000;
    if (character < form.least || character > 0x10ffff || surrogate) return std::nullopt;
    return character;
}

}  // namespace

std::optional<char32_t> take_character(std::string_view& text) {
    const auto form = form_of(static_cast<unsigned char>(text[0]));
    const auto character = form ? decode(text, *form) : std::nullopt;
    text.remove_prefix(character ? form->length : 1);
    return character;
}

std::string utf8_of(char32_t character) {
    std::string bytes;
    const auto follow = [&](int shift) { bytes += static_cast<char>(0x80 | (character >> shift & 0x3f)); };
    if (character < 0x80) return {static_cast<char>(character)};
    if (character < 0x800) {
        bytes += static_cast<char>(0xc0 | character >> 6);
    } else if (character < 0x10000) {
        bytes += static_cast<char>(0xe0 | character >> 12);
        follow(6);
    } else {
        bytes += static_cast<char>(0xf0 | character >> 18);
        follow(12);
        follow(6);
    }
    follow(0);
    return bytes;
}

std::size_t count_characters(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) take_character(text);
    return count;
}

bool has_control(std::string_view text) {
    while (!text.empty()) {
        const auto character = take_character(text);
        if (character && is_control(*character)) return true;
    }
    return false;
}

namespace {

/// Returns `text` with `instead` of the characters that do not show; nothing stands for a byte that is not UTF-8.
std::string replaced(std::string_view text, std::string_view kept,
                     const std::function<std::string(std::optional<char32_t>)>& instead) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        if ((text[0] >= ' ' && text[0] <= '~') || kept.find(text[0]) != std::string_view::npos) {
            result += text[0];
            text.remove_prefix(1);
            continue;
        }
        const std::string_view rest = text;
        const auto character = take_character(text);
        if (!character || is_bidi_control(*character) || is_control(*character) || is_noncharacter(*character))
            result += instead(character);
        else
            result += rest.substr(0, rest.size() - text.size());
    }
    return result;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
    return replaced(text, kept,
                    [](std::optional<char32_t> character) { return character && is_control(*character) ? " " : "?"; });
}

std::string with_escapes(std::string_view text, std::string_view kept,
                         const std::function<std::string(char32_t)>& escape) {
    return replaced(text, kept,
                    [&](std::optional<char32_t> character) { return character ? escape(*character) : "?"; });
}

}  // namespace syncline

#include "sim/base/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>
#include <utility>

#include "sim/base/utf8.hpp"

namespace syncline {

namespace {

constexpr std::size_t widest_line = 100;
constexpr std::size_t longest_message = 400;
constexpr std::size_t most_shown = 20;

/// One character as it is printed, and its width in terminal columns.
struct Glyph {
    std::string_view text;
    std::size_t width;
};

/// Returns the width in terminal columns, from Unicode's East Asian Width and its combining marks, by blocks.
std::size_t width(char32_t character) {
    constexpr std::pair<char32_t, char32_t> none[] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0xfe00, 0xfe0f}};
    constexpr std::pair<char32_t, char32_t> twice[] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},  {0xac00, 0xd7a3},
                                                       {0xf900, 0xfaff},   {0xfe30, 0xfe6f},  {0xff00, 0xff60},
                                                       {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    const auto holds = [character](const auto& block) { return character >= block.first && character <= block.second; };
    if (std::any_of(std::begin(none), std::end(none), holds)) return 0;
    return std::any_of(std::begin(twice), std::end(twice), holds) ? 2 : 1;
}

/// Takes up to `most` characters off `text`.
std::vector<Glyph> take_glyphs(std::string_view& text, std::size_t most) {
    std::vector<Glyph> result;
    while (!text.empty() && result.size() < most) {
        const std::string_view rest = text;
        const auto character = take_character(text);
        if (!character || is_bidi_control(*character))
            result.push_back({"?", 1});
        else if (is_control(*character))
            result.push_back({" ", 1});
        else
            result.push_back({rest.substr(0, rest.size() - text.size()), width(*character)});
    }
    return result;
}

/// Returns `text`, which may hold anything that a file or an argument can, in a form that is safe to print.
std::string shown(std::string_view text) {
    std::string result;
    for (const Glyph& glyph : take_glyphs(text, longest_message)) result += glyph.text;
    return text.empty() ? result : result + "…";
}

/// Returns the source line, or a window of it, and the caret below.
std::string excerpt(const Location& where) {
    const std::size_t length = count_characters(where.source_line);
    const std::size_t caret = std::min(length, static_cast<std::size_t>(std::max(where.column, 1)) - 1);
    std::size_t begin = 0;
    if (length > widest_line) begin = std::min(caret - std::min(caret, widest_line / 2), length - widest_line);

    std::string_view rest = where.source_line;
    for (std::size_t i = 0; i < begin; ++i) take_character(rest);
    std::string text = begin > 0 ? "…" : "";
    std::size_t indent = begin > 0 ? 1 : 0;
    std::size_t position = begin;
    for (const Glyph& glyph : take_glyphs(rest, widest_line)) {
        text += glyph.text;
        if (position++ < caret) indent += glyph.width;
    }
    if (!rest.empty()) text += "…";
    return fmt::format("    {}\n    {:>{}}\n", text, "^", indent + 1);
}

/// Returns the lines of a diagnostic; `kind` is "error" or "warning".
std::string rendered(const Diagnostic& diagnostic, const char* kind) {
    const Location& where = diagnostic.where;
    std::string text;
    if (!where.file.empty()) text = fmt::format("{}:{}:{}: ", shown(where.file), where.line, where.column);
    text += fmt::format("{}: {}\n", kind, shown(diagnostic.message));
    if (!where.source_line.empty()) text += excerpt(where);
    if (!diagnostic.hint.empty()) text += fmt::format("  hint: {}\n", shown(diagnostic.hint));
    return text;
}

}  // namespace

std::string render(const Diagnostic& diagnostic) {
    return rendered(diagnostic, "error");
}

void warn(const Diagnostic& diagnostic) {
    static std::set<std::string> said;
    const std::string text = rendered(diagnostic, "warning");
    if (!said.insert(text).second) return;
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
    const std::size_t count = diagnostics_.size();
    for (std::size_t i = 0; i < std::min(count, most_shown); ++i) text_ += render(diagnostics_[i]);
    if (count > most_shown) text_ += fmt::format("and {} more errors\n", count - most_shown);
}

}  // namespace syncline

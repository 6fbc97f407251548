#include "sim/import/log_text.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/number.hpp"

namespace syncline::config {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

void remove_prefix(PlacedText& line, std::size_t bytes) {
    line.text.remove_prefix(bytes);
    line.mark.column += static_cast<int>(bytes);
}

void remove_label(PlacedText& line) {
    constexpr std::string_view tag = "<stdout>:";
    if (const std::size_t end = line.text.find(tag); line.text.starts_with('[') && end != std::string_view::npos)
        return remove_prefix(line, end + tag.size());
    const std::size_t first = std::min(line.text.find_first_not_of(' '), line.text.size());
    std::size_t end = first;
    while (end < line.text.size() && is_digit(line.text[end])) ++end;
    if (end > first && line.text.substr(end).starts_with(": ")) remove_prefix(line, end + 2);
}

}  // namespace

std::string without_escapes(const std::string& text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\x1b' || i + 1 >= text.size() || text[i + 1] != '[') {
            plain += text[i];
            continue;
        }
        // ECMA-48: parameters and intermediate bytes, then a final one from '@' to '~'.
        for (i += 2; i < text.size() && (text[i] >= ' ' && text[i] < '@');) ++i;
    }
    return plain;
}

std::vector<PlacedText> lines_of(const Mark& start) {
    std::vector<PlacedText> lines;
    std::string_view rest = start.source->text;
    Mark mark{start.source, 1, 1};
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
        PlacedText line{rest.substr(0, end), mark};
        remove_label(line);
        if (!line.text.empty()) lines.push_back(line);
        const bool feed = end < rest.size() && rest[end] == '\n';
        if (feed)
            mark = {start.source, mark.line + 1, 1};
        else
            mark.column += static_cast<int>(end + 1);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return lines;
}

std::optional<LogNumber> number_after(const PlacedText& line, std::string_view key) {
    std::size_t at = line.text.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    at = std::min(line.text.find_first_not_of(" '\"", at + key.size()), line.text.size());
    LogNumber number{0, line.mark};
    number.mark.column += static_cast<int>(at);
    std::string digits;
    for (; at < line.text.size() && std::string_view("0123456789.,eE+-").find(line.text[at]) != std::string_view::npos;
         ++at)
        if (line.text[at] != ',') digits += line.text[at];
    const auto value = number_in<double>(digits);
    if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
    number.value = *value;
    return number;
}

}  // namespace syncline::config

#include "sim/document/key_path.hpp"

#include <algorithm>

#include "sim/base/utf8.hpp"

namespace syncline::config {

namespace {

constexpr const char* path_example = R"(write for example platform.device.calibration."gpt-3.6b".throughput)";

/// Returns the end of the quoted text that begins at `start`, after its closing quote; npos if that is missing.
std::size_t end_of_quoted(std::string_view text, std::size_t start) {
    for (std::size_t i = start + 1; i < text.size(); ++i) {
        if (text[i] != '"') continue;
        if (i + 1 == text.size() || text[i + 1] != '"') return i + 1;
        ++i;
    }
    return std::string_view::npos;
}

/// Returns the text within quotes.
std::string unquoted(std::string_view text) {
    std::string key;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        key += text[i];
        if (text[i] == '"') ++i;
    }
    return key;
}

}  // namespace

KeyPath parse_path(std::string_view text) {
    KeyPath path;
    const auto fail = [&](std::size_t at, const char* error, const char* hint) {
        path.error = error;
        path.hint = hint;
        path.error_at = at;
        return path;
    };
    for (std::size_t at = 0;;) {
        std::size_t end = 0;
        if (at < text.size() && text[at] == '"') {
            end = end_of_quoted(text, at);
            if (end == std::string_view::npos) return fail(at, "unclosed quote in this path", path_example);
            path.parts.push_back({unquoted(text.substr(at, end - at)), at});
            if (end < text.size() && text[end] != '.') return fail(end, "missing dot after the quote", path_example);
        } else {
            end = std::min(text.find('.', at), text.size());
            const std::string_view part = text.substr(at, end - at);
            if (const auto quote = part.find('"'); quote != std::string_view::npos)
                return fail(at + quote, "quote in the middle of a key", path_example);
            path.parts.push_back({std::string(part), at});
        }
        if (has_control(path.parts.back().key)) return fail(at, "this path contains a control character", path_example);
        if (path.parts.back().key.empty()) return fail(at, "this path has an empty part", "join keys by single dots");
        if (end == text.size()) return path;
        at = end + 1;
    }
}

std::string path_part(std::string_view key) {
    if (key.find_first_of(".=\"") == std::string_view::npos) return std::string(key);
    std::string quoted = "\"";
    for (const char c : key) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + '"';
}

std::string plain_path(const std::string& text) {
    const KeyPath path = parse_path(text);
    if (!path.error.empty()) return text;
    std::string plain;
    for (const PathPart& part : path.parts) plain += (plain.empty() ? "" : ".") + path_part(part.key);
    return plain;
}

std::size_t end_of_path(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '=') return i;
        if (text[i] == '"' && (i == 0 || text[i - 1] == '.')) {
            const std::size_t end = end_of_quoted(text, i);
            if (end == std::string_view::npos) return text.find('=', i);  // reported as an error later
            i = end - 1;
        }
    }
    return std::string_view::npos;
}

bool lies_in(std::string_view path, std::string_view prefix) {
    return path.size() > prefix.size() && path.starts_with(prefix) && path[prefix.size()] == '.';
}

}  // namespace syncline::config

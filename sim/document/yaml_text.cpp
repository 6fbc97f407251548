#include "sim/document/yaml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace syncline::config {

namespace {

/// Returns `text` as a JSON string, which is also a YAML string.
std::string in_quotes(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string key_text(const std::string& key) {
    const auto safe = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    };
    // A hyphen or a slash is safe after the first character.
    const bool plain = !key.empty() && safe(key.front()) &&
                       std::all_of(key.begin(), key.end(), [&](char c) { return safe(c) || c == '-' || c == '/'; });
    return plain && key != "null" && key != "Null" && key != "NULL" ? key : in_quotes(key);
}

/// Returns a scalar as written, in quotes if it needs them. In brackets more characters need quotes than in a block.
std::string scalar_text(const Node& node, bool in_brackets) {
    if (node.kind == Node::Kind::null) return "~";
    constexpr std::string_view never = "\n\r\t", brackets = "[]{},";
    const bool unfit = node.scalar.find_first_of(never) != std::string::npos ||
                       (in_brackets && node.scalar.find_first_of(brackets) != std::string::npos);
    return node.quoted || unfit ? in_quotes(node.scalar) : node.scalar;
}

bool is_empty(const Node& node) {
    return node.entries.empty() && node.items.empty();
}

void write(std::string& text, const Node& node, std::size_t indent);

/// Writes the value after a key.
void write_value(std::string& text, const Node& node, std::size_t indent) {
    if (is_empty(node)) {
        text += ' ' + flow_text(node) + '\n';
    } else {
        text += '\n';
        write(text, node, indent);
    }
}

void write(std::string& text, const Node& node, std::size_t indent) {
    for (const Entry& entry : node.entries) {
        text.append(indent, ' ');
        text += key_text(entry.key) + ':';
        write_value(text, entry.value, indent + 2);
    }
    for (const Node& item : node.items) {
        const std::size_t hyphen = text.size() + indent;
        if (is_empty(item)) {
            text.append(indent, ' ');
            text += "- " + flow_text(item) + '\n';
            continue;
        }
        write(text, item, indent + 2);
        text[hyphen] = '-';
    }
}

std::string flow(const Node& node, bool in_brackets) {
    std::string text;
    const auto join = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    switch (node.kind) {
        case Node::Kind::sequence:
            for (const Node& item : node.items) join(flow(item, true));
            return '[' + text + ']';
        case Node::Kind::mapping:
            for (const Entry& entry : node.entries) join(key_text(entry.key) + ": " + flow(entry.value, true));
            return '{' + text + '}';
        default:
            return scalar_text(node, in_brackets);
    }
}

}  // namespace

std::string flow_text(const Node& node) {
    return flow(node, false);
}

std::string block_text(const Node& mapping) {
    if (is_empty(mapping)) return flow_text(mapping) + '\n';
    std::string text;
    write(text, mapping, 0);
    return text;
}

}  // namespace syncline::config

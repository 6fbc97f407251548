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

std::string flow(const Node& node, bool in_brackets);

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

/// Returns whether a value is written in brackets by readable_text().
bool is_short(const Node& node) {
    const auto is_flat = [](const Node& item) { return item.kind != Node::Kind::mapping; };
    return std::all_of(node.items.begin(), node.items.end(), is_flat) &&
           std::all_of(node.entries.begin(), node.entries.end(), [](const Entry& one) { return is_short(one.value); });
}

/// Returns a mapping in brackets, in as many lines as it needs.
std::string wrapped(const Node& mapping, std::size_t indent) {
    constexpr std::size_t widest = 140;
    std::string text = "{";
    std::size_t column = indent + 1;
    for (const Entry& entry : mapping.entries) {
        std::string part = key_text(entry.key) + ": " + flow(entry.value, true);
        const bool first = &entry == &mapping.entries.front(), last = &entry == &mapping.entries.back();
        part += last ? "}" : ",";
        if (!first && column + 1 + part.size() > widest) {
            text += '\n' + std::string(indent + 1, ' ');
            column = indent + 1;
        } else if (!first) {
            text += ' ';
            ++column;
        }
        text += part;
        column += part.size();
    }
    return text;
}

void write_readable(std::string& text, const Node& node, std::size_t indent, bool top) {
    for (const Entry& entry : node.entries) {
        const Node& value = entry.value;
        text += std::string(indent, ' ') + key_text(entry.key) + ':';
        // The keys of a document's sections have lines of their own.
        if (is_empty(value) || (is_short(value) && !(top && value.kind == Node::Kind::mapping))) {
            const bool brackets = value.kind == Node::Kind::mapping && !is_empty(value);
            text += ' ' + (brackets ? wrapped(value, indent + entry.key.size() + 2) : flow_text(value)) + '\n';
        } else {
            text += '\n';
            write_readable(text, value, indent + 2, false);
        }
    }
    for (const Node& item : node.items) {
        if (is_short(item)) {
            const bool brackets = item.kind == Node::Kind::mapping && !is_empty(item);
            text += std::string(indent, ' ') + "- " + (brackets ? wrapped(item, indent + 2) : flow_text(item)) + '\n';
            continue;
        }
        const std::size_t hyphen = text.size() + indent;
        write_readable(text, item, indent + 2, false);
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

std::string readable_text(const Node& mapping) {
    if (is_empty(mapping)) return flow_text(mapping) + '\n';
    std::string text;
    write_readable(text, mapping, 0, true);
    return text;
}

}  // namespace syncline::config

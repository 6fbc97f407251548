#include "sim/config/imported_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "sim/base/utf8.hpp"
#include "sim/document/yaml_text.hpp"

namespace syncline::config {

namespace {

/// Returns lines of a comment. What a foreign file says cannot leave it.
std::string comment(const std::string& text) {
    constexpr std::size_t widest = 138;
    std::string lines, line = "#";
    std::string words = printable(text);
    std::replace(words.begin(), words.end(), '\n', ' ');
    for (std::size_t begin = 0; begin < words.size();) {
        const std::size_t end = std::min(words.find(' ', begin), words.size());
        if (line.size() > 3 && line.size() + 1 + end - begin > widest) {
            lines += line + '\n';
            line = "#  ";
        }
        line += ' ' + words.substr(begin, end - begin);
        begin = end + 1;
    }
    return lines + line + '\n';
}

Node in_order(Node mapping, std::initializer_list<const char*> keys) {
    Node ordered = mapping_at(mapping.mark);
    for (const char* key : keys)
        if (const Entry* const entry = mapping.entry(key)) ordered.entries.push_back(*entry);
    for (Entry& entry : mapping.entries)
        if (ordered.find(entry.key) == nullptr) ordered.entries.push_back(std::move(entry));
    return ordered;
}

/// Returns the sections of a document in the order of shipped files.
Node in_order(Node document) {
    const std::initializer_list<const char*> platform = {"name", "nodes", "device", "host", "per_node", "fabric"};
    if (document.find("per_node")) return in_order(std::move(document), platform);
    if (Node* const part = document.find("platform"); part && part->kind == Node::Kind::mapping)
        *part = in_order(std::move(*part), platform);
    return in_order(std::move(document), {"name", "platform", "workload", "training", "collective"});
}

}  // namespace

std::string imported_text(const std::vector<std::string>& origins, const std::vector<Diagnostic>& notes,
                          Node document) {
    std::string text = "# Written by `syncline import` from\n";
    for (const std::string& origin : origins) text += comment("- " + origin);
    if (!notes.empty()) text += "# Notes:\n";
    for (const Diagnostic& note : notes)
        text += comment(fmt::format("- {}:{}: {}", note.where.file, note.where.line, note.message));
    return text + readable_text(in_order(std::move(document)));
}

}  // namespace syncline::config

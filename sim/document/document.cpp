#include "sim/document/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/utf8.hpp"
#include "sim/document/former_names.hpp"
#include "sim/document/presets.hpp"
#include "sim/document/read_text.hpp"
#include "sim/document/yaml.hpp"

namespace syncline::config {

namespace {

namespace fs = std::filesystem;

/// Returns the path that identifies a file, by whatever path it was reached.
fs::path identity(const fs::path& path) {
    std::error_code error;
    fs::path canonical = fs::canonical(path, error);
    if (!error) return canonical;
    fs::path absolute = fs::absolute(path, error);
    return error ? path : absolute;
}

/// Rejects a reference to a file that is already being read, since expansion would never end.
void check_cycle(const Mark& reference, const fs::path& path) {
    const fs::path file = identity(path);
    std::string way = shown(path);
    for (const Source* source = reference.source; source; source = source->reference.source) {
        way = source->name + " -> " + way;
        if (!source->file.empty() && source->file == file)
            throw ConfigError({{locate(reference), "reference cycle: " + way, ""}});
    }
}

/// Returns whether a file's content is keys, items, or one word, which may be the name of another file.
bool is_plausible(const Node& content) {
    constexpr std::size_t longest_name = 255;
    if (content.kind != Node::Kind::scalar) return true;
    const bool one_line = locate(content.mark).source_line.find(content.scalar) != std::string::npos;
    return content.scalar.size() <= longest_name && (one_line || content.quoted) &&
           content.scalar.find('\n') == std::string::npos;
}

}  // namespace

Location locate(const Mark& mark) {
    if (!mark.source) return {};
    std::string_view rest = mark.source->text;
    // A mark may be at the end of the text, after the last line.
    for (int line = 1; line < mark.line && !rest.empty(); ++line)
        rest.remove_prefix(std::min(rest.size(), std::min(rest.size(), rest.find('\n')) + 1));
    std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto before = line.substr(0, static_cast<std::size_t>(mark.column) - 1);
    return {mark.source->name, mark.line, static_cast<int>(count_characters(before)) + 1, std::string(line)};
}

fs::path referred_file(const Node& reference) {
    return reference.scalar.empty() ? fs::path() : reference.mark.source->directory / reference.scalar;
}

std::string shown(const fs::path& path) {
    return path.lexically_normal().string();
}

const Entry* Node::entry(std::string_view key) const {
    const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& one) { return one.key == key; });
    return found == entries.end() ? nullptr : &*found;
}

Entry* Node::entry(std::string_view key) {
    return const_cast<Entry*>(std::as_const(*this).entry(key));
}

const Node* Node::find(std::string_view key) const {
    const Entry* const found = entry(key);
    return found ? &found->value : nullptr;
}

Node* Node::find(std::string_view key) {
    return const_cast<Node*>(std::as_const(*this).find(key));
}

Node empty_at(const Mark& mark, Node::Kind kind) {
    Node node;
    node.kind = kind;
    node.mark = mark;
    return node;
}

Node scalar_at(const Mark& mark, std::string text) {
    Node node = empty_at(mark, Node::Kind::scalar);
    node.scalar = std::move(text);
    return node;
}

Node mapping_at(const Mark& mark, std::vector<Entry> entries) {
    Node node = empty_at(mark, Node::Kind::mapping);
    node.entries = std::move(entries);
    return node;
}

Node Library::load_argument(const std::string& path) {
    Text file = read_text(path);
    if (!file.text) throw ConfigError({{{path, 1, 1, path}, file.error, file.hint}});
    return load(path, std::move(*file.text), {});
}

void Library::expand(Node& node, const std::vector<std::string>& kinds, const std::vector<std::string>& words) {
    if (node.kind != Node::Kind::scalar) return;
    const std::string first = find_file(node, kinds, words).string();
    while (node.kind == Node::Kind::scalar) {
        const fs::path path = find_file(node, kinds, words);
        check_cycle(node.mark, path);
        if (const auto known = expanded_.find(path.string()); known != expanded_.end()) {
            node = known->second;
            break;
        }
        Text file = read_text(path);
        if (!file.text) throw ConfigError({{locate(node.mark), file.error, file.hint}});
        node = load(path, std::move(*file.text), node.mark);
    }
    expanded_.emplace(first, node);
}

Node Library::parse(std::string name, std::string text, fs::path directory, std::size_t skip) {
    Node node = parse_yaml(add({std::move(name), std::move(directory), std::move(text), {}, {}}), skip);
    refuse_former_names(node);
    return node;
}

Mark Library::cite(std::string name, std::string text, fs::path directory) {
    return {&add({std::move(name), std::move(directory), std::move(text), {}, {}}), 1, 1};
}

Node Library::argument(const std::string& text) {
    return scalar_at(cite(text, text, ""), text);
}

Node Library::load(const fs::path& path, std::string text, const Mark& reference) {
    const Source& source = add({shown(path), path.parent_path(), std::move(text), identity(path), reference});
    Node node = parse_yaml(source, 0);
    refuse_former_names(node);
    if (node.kind == Node::Kind::null) throw ConfigError({{locate(node.mark), "this file is empty", ""}});
    // The text is not repeated: it may be that of any file, named by mistake.
    if (!is_plausible(node))
        throw ConfigError({{reference.source ? locate(reference) : Location{source.name, 1, 1, source.name},
                            fmt::format("'{}' holds neither keys nor the name of a file", source.name),
                            "name a YAML or JSON file, or write the keys here"}});
    return node;
}

const Source& Library::add(Source source) {
    sources_.push_back(std::make_unique<Source>(std::move(source)));
    return *sources_.back();
}

}  // namespace syncline::config

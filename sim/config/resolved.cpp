#include "sim/config/resolved.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "sim/config/assembly.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/yaml_text.hpp"

namespace syncline::config {

namespace {

void sort_keys(Node& node) {
    std::sort(node.entries.begin(), node.entries.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    for (Entry& entry : node.entries) sort_keys(entry.value);
    for (Node& item : node.items) sort_keys(item);
}

/// Returns whether `scalar` is the name of the file. A file that stands for a topology gives its place to the shape,
/// too.
bool names(const Node& scalar, const OtherFile& file) {
    const Mark &a = file.name, &b = scalar.mark;
    return a.source == b.source && a.line == b.line && a.column == b.column && scalar.scalar == file.written;
}

/// Calls `visit` with each value in `node` that is neither list nor mapping, in the order written.
template <class Visit>
void each_scalar(Node& node, const Visit& visit) {
    if (node.kind == Node::Kind::scalar) visit(node);
    for (Entry& entry : node.entries) each_scalar(entry.value, visit);
    for (Node& item : node.items) each_scalar(item, visit);
}

/// Returns a name of the file that is the same for all programs: several may simulate the runs of one store, from
/// different directories.
std::string from_anywhere(const std::filesystem::path& path) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    return error ? shown(path) : absolute.lexically_normal().string();
}

}  // namespace

std::string Resolved::text() const {
    std::string text;
    for (const ResolvedSection& section : sections) text += section.text;
    return text;
}

Resolved resolve(Node document, const std::vector<OtherFile>& files) {
    Resolved resolved;
    for (const char* key : {"name", "description"})
        std::erase_if(document.entries, [&](const Entry& entry) { return entry.key == key; });
    sort_keys(document);
    Node nameless = document;
    const auto name_again = [&](Node& scalar) {
        std::optional<std::string> name;
        for (const OtherFile& file : files) {
            if (!names(scalar, file)) continue;
            if (!name) name = from_anywhere(file.path);
            resolved.files.push_back(file.text);
        }
        if (!name) return;
        scalar.scalar = *name;
        scalar.quoted = true;
    };
    const auto leave_out = [&](Node& scalar) {
        const auto is_name = [&](const OtherFile& file) { return names(scalar, file); };
        if (std::none_of(files.begin(), files.end(), is_name)) return;
        scalar.scalar.clear();
        scalar.quoted = true;
    };
    if (!files.empty()) {
        each_scalar(document, name_again);
        each_scalar(nameless, leave_out);
    }
    for (std::size_t i = 0; i < document.entries.size(); ++i) {
        const auto text = [](Entry& entry) { return block_text(mapping_at({}, {std::move(entry)})); };
        const std::string key = document.entries[i].key;
        resolved.sections.push_back({key, text(document.entries[i]), text(nameless.entries[i])});
    }
    return resolved;
}

Variant load_resolved(const std::string& text, const std::string& name, const Inspect& inspect, std::uint64_t seed,
                      Resolved* again) {
    Assembly assembly;
    Node document = assembly.library.parse(name, text, "");
    const Node free_layers = take(document, free_layers_key);
    std::string unnamed;
    GridChoices choices;
    Variant variant = read_variant(assembly, document, "base", unnamed, choices, inspect, seed, free_layers);
    refuse_open(assembly, document, variant);
    if (again != nullptr && !assembly.other_files().empty()) {
        if (!free_layers.items.empty()) document.entries.push_back({free_layers_key, free_layers.mark, free_layers});
        *again = resolve(std::move(document), assembly.other_files());
    }
    assembly.finish();
    return variant;
}

}  // namespace syncline::config

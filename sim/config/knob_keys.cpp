#include "sim/config/knob_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "sim/config/assembly.hpp"
#include "sim/config/axis.hpp"
#include "sim/config/jobs_keys.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/key_path.hpp"
#include "sim/document/override.hpp"
#include "sim/document/yaml_text.hpp"

namespace syncline::config {

namespace {

/// A knob as written: the parts of its path, each with its place, and its values.
struct Written {
    std::vector<std::pair<std::string, Mark>> path;
    AxisColumn column;

    /// Returns `{a: {b: value}}`.
    Node change(const Node& value) const {
        Node inner = value;
        for (auto part = path.rbegin(); part != path.rend(); ++part)
            inner = mapping_at(part->second, {{part->first, part->second, std::move(inner)}});
        return inner;
    }
};

/// Reads the knobs in a mapping whose paths are split, below `path`.
void read_below(Assembly& assembly, const Node& mapping, const std::vector<std::pair<std::string, Mark>>& path,
                std::vector<Written>& knobs) {
    for (const Entry& entry : mapping.entries) {
        auto longer = path;
        longer.emplace_back(entry.key, entry.mark);
        if (entry.value.kind == Node::Kind::mapping && !entry.value.entries.empty()) {
            read_below(assembly, entry.value, longer, knobs);
            continue;
        }
        std::string key;
        for (const auto& [part, mark] : longer) key += (key.empty() ? "" : ".") + path_part(part);
        const Node values =
            entry.value.kind == Node::Kind::mapping ? empty_at(entry.value.mark, Node::Kind::null) : entry.value;
        AxisColumn column = read_axis(assembly, key, entry.mark, values);
        knobs.push_back({std::move(longer), std::move(column)});
    }
}

bool written_before(const Written& a, const Written& b) {
    return std::pair(a.column.mark.line, a.column.mark.column) < std::pair(b.column.mark.line, b.column.mark.column);
}

std::vector<Written> read_all(Assembly& assembly, const ScenarioFile& file) {
    std::vector<Written> knobs;
    Node mapping = file.knobs;
    if (mapping.kind == Node::Kind::null) return knobs;
    if (mapping.kind != Node::Kind::mapping) {
        assembly.report(mapping.mark, "'knobs' is not a mapping", "write for example `training.ranks: 2^1..2^5`");
        return knobs;
    }
    assembly.attempt([&] {
        split_paths(mapping);
        read_below(assembly, mapping, {}, knobs);
    });
    // Keys that are split are joined to those before them, but the order in which knobs are written is that of the
    // page.
    std::stable_sort(knobs.begin(), knobs.end(), written_before);
    if (knobs.size() > most_knobs) {
        assembly.report(knobs[most_knobs].column.mark, fmt::format("there are more than {} knobs", most_knobs));
        knobs.resize(most_knobs);
    }
    return knobs;
}

/// Returns what an assignment reads as this value. Names of files in an assignment are relative to the working
/// directory.
std::string assigned_text(const Node& value) {
    if (value.kind == Node::Kind::scalar && !value.quoted && value.scalar.find_first_of("./") != std::string::npos) {
        const std::filesystem::path file = referred_file(value);
        std::error_code ignored;
        if (std::filesystem::is_regular_file(file, ignored)) return shown(file);
    }
    return flow_text(value);
}

/// Returns the errors of reading a variant of the scenario with a change.
std::vector<Diagnostic> errors_of(Assembly& assembly, const ScenarioFile& file, const Entry& variant,
                                  const Node& changes, const Inspect& inspect) {
    try {
        Node document = file.base;
        change(assembly, document, variant.value);
        change(assembly, document, changes);
        expand_jobs(assembly, document);
        std::string name;
        GridChoices choices;
        read_variant(assembly, document, variant.key, name, choices, inspect);
        assembly.finish();
        return {};
    } catch (const ConfigError& error) {
        return error.diagnostics();
    }
}

/// Returns whether the error's place is in the value, or in a part of the key.
bool is_at(const Location& place, const Written& knob, const Node& value) {
    const auto same = [&](const Mark& mark) { return same_place(place, locate(mark)); };
    const auto inside = [&](const auto& self, const Node& node) -> bool {
        return same(node.mark) ||
               std::any_of(node.items.begin(), node.items.end(), [&](const Node& item) { return self(self, item); }) ||
               std::any_of(node.entries.begin(), node.entries.end(),
                           [&](const Entry& entry) { return same(entry.mark) || self(self, entry.value); });
    };
    return inside(inside, value) ||
           std::any_of(knob.path.begin(), knob.path.end(), [&](const auto& part) { return same(part.second); });
}

}  // namespace

std::vector<Knob> read_knobs(Assembly& assembly, const ScenarioFile& file) {
    std::vector<Knob> knobs;
    std::vector<std::string> variants;
    if (file.has_variants)
        for (const Entry& entry : file.variants) variants.push_back(entry.key);
    for (const Written& written : read_all(assembly, file)) {
        const AxisColumn& column = written.column;
        Knob& knob = knobs.emplace_back(Knob{column.key, locate(column.mark), {}});
        if (column.key == variant_key)
            check_variants(assembly, column, variants);
        else
            check_axis(assembly, column.key, written.path.front().second);
        if (column.values.size() > most_knob_values)
            assembly.report(column.mark,
                            fmt::format("'{}' has {} values, but a knob has at most {}", column.key,
                                        column.values.size(), most_knob_values),
                            "leave some out: `2..64 step 2`, `2^1..2^10`");
        std::set<std::string> known;
        for (const Node& value : column.values) {
            if (column.values.size() > most_knob_values) break;
            knob.values.push_back(column.key == variant_key ? value.scalar : assigned_text(value));
            if (!known.insert(knob.values.back()).second)
                assembly.report(value.mark, fmt::format("'{}' is listed twice", knob.values.back()));
        }
    }
    return knobs;
}

void check_knobs(const std::string& path, const Inspect& inspect) {
    Assembly assembly;
    Node document = assembly.library.load_argument(path);
    split_paths(document);
    const ScenarioFile file = take_apart(assembly, std::move(document));
    const std::vector<Written> knobs = read_all(assembly, file);
    assembly.finish();
    std::vector<Diagnostic> errors;
    for (const Written& knob : knobs) {
        if (knob.column.key == variant_key) continue;
        for (const Node& value : knob.column.values) {
            std::vector<Diagnostic> first;
            for (const Entry& variant : file.variants) {
                std::vector<Diagnostic> found = errors_of(assembly, file, variant, knob.change(value), inspect);
                const bool fits = found.empty();
                if (fits || first.empty()) first = std::move(found);
                if (fits) break;
            }
            // An error elsewhere, as of a batch that the ranks do not divide, is the value's, too.
            for (Diagnostic& error : first) {
                if (!is_at(error.where, knob, value)) {
                    error.where = locate(value.mark);
                    error.message = fmt::format("with {} = {}: {}", knob.column.key, flow_text(value), error.message);
                }
                const bool known = std::any_of(errors.begin(), errors.end(), [&](const Diagnostic& other) {
                    return same_place(other.where, error.where) && other.message == error.message;
                });
                if (!known) errors.push_back(std::move(error));
            }
        }
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

}  // namespace syncline::config

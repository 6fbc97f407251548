#include "sim/document/former_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::config {

namespace {

struct FormerName {
    std::string_view mapping;  ///< the key of the mapping, or of the list of mappings, that had it
    std::string_view key;
    std::string_view value;  ///< only this one is a former name; empty: any
    std::string_view now;    ///< continues "'key' is now …"
    std::string_view write;  ///< {} is the value as written
};

constexpr const char* rows_and_columns =
    "write `model: 2, data: 4` in place of `grid: {{rows: 2, columns: 4}}`, and `model: auto` in place of `grid: auto`";
constexpr const char* queries = "write `driver_query: none` in place of `pointer_cache: true`";
constexpr const char* policies =
    "write `policy: ecmp` in place of `spread: true`, and `policy: first` in place of "
    "`spread: false`";
constexpr const char* processor = "write `where: {}`; YAML 1.1 reads `on` as true";

// CHANGELOG.md has the same table, by version.
constexpr FormerName former_names[] = {
    {"pipeline", "chunks", "", "called 'virtual_stages'", "write `virtual_stages: {}`"},
    {"parallelism", "grid", "", "called 'model' and 'data'", rows_and_columns},
    {"layers", "grid", "", "called 'model' and 'data'", rows_and_columns},
    {"training", "free_layers", "", "a key of an ablation's mechanism",
     "write it beside the `name` of a mechanism, in a file for `syncline validate --ablate`"},
    {"routing", "spread", "", "called 'policy'", policies},
    {"fusion", "negotiation", "true", "called 'negotiation: on-ready'", "write `negotiation: on-ready`"},
    {"fusion", "negotiation", "false", "called 'negotiation: none'", "write `negotiation: none`"},
    {"layers", "norm", "true", "called 'norm: layer'", "write `norm: layer`"},
    {"layers", "norm", "false", "called 'norm: none'", "write `norm: none`"},
    {"transport", "pointer_cache", "", "a value of 'driver_query'", queries},
    {"", "pointer_cache", "", "a value of 'driver_query'", queries},
    {"reduction", "on", "", "called 'where'", processor},
    {"reduction", "true", "", "called 'where'", processor},
};

const FormerName* find(std::string_view mapping, const Entry& entry) {
    const auto found = std::find_if(std::begin(former_names), std::end(former_names), [&](const FormerName& name) {
        return name.mapping == mapping && name.key == entry.key &&
               (name.value.empty() || name.value == entry.value.scalar);
    });
    return found == std::end(former_names) ? nullptr : found;
}

void take_out(Node& node, std::string_view mapping, std::vector<Diagnostic>& errors) {
    std::erase_if(node.entries, [&](Entry& entry) {
        take_out(entry.value, entry.key, errors);
        const FormerName* const name = find(mapping, entry);
        if (!name) return false;
        const std::string written = name->value.empty() ? entry.key : entry.key + ": " + entry.value.scalar;
        errors.push_back({locate(entry.mark), fmt::format("'{}' is now {}", written, name->now),
                          fmt::format(fmt::runtime(name->write), entry.value.scalar)});
        return true;
    });
    for (Node& item : node.items) take_out(item, mapping, errors);
}

}  // namespace

void refuse_former_names(Node& document) {
    std::vector<Diagnostic> errors;
    take_out(document, "", errors);
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

}  // namespace syncline::config

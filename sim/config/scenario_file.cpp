#include "sim/config/scenario_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/base/utf8.hpp"
#include "sim/document/override.hpp"

namespace syncline::config {

namespace {

/// Prepares the changes of one variant for merging; returns false if they are not a mapping.
bool prepare(Assembly& assembly, Entry& variant) {
    if (variant.value.kind != Node::Kind::mapping) {
        assembly.report(variant.value.mark, fmt::format("variant '{}' is not a mapping", variant.key),
                        "write the keys that differ, such as `training.overlap: none`");
        return false;
    }
    if (variant.key.empty() || has_control(variant.key))
        assembly.report(variant.mark, "a variant's name must not be empty or contain control characters");
    assembly.attempt([&] { split_paths(variant.value); });
    for (const char* key : {"name", "variants", "expect", "measured", "knobs"}) {
        const Entry* const found = variant.value.entry(key);
        if (!found) continue;
        assembly.report(found->mark, fmt::format("a variant cannot change '{}'", key),
                        "it may change platform, workload, training, collective, trace and jobs");
        take(variant.value, key);
    }
    return true;
}

/// Puts the nulls of `changes` into `base`.
void keep_removals(Node& base, const Node& changes) {
    for (const Entry& change : changes.entries) {
        Node* there = base.find(change.key);
        const bool removes = change.value.kind == Node::Kind::null, inner = change.value.kind == Node::Kind::mapping;
        if (there == nullptr && (removes || inner)) {
            base.entries.push_back({change.key, change.mark, removes ? change.value : mapping_at(change.mark)});
            there = &base.entries.back().value;
        }
        if (inner && there->kind == Node::Kind::mapping) keep_removals(*there, change.value);
    }
}

}  // namespace

Assignments parse_assignments(Assembly& assembly, const std::vector<std::string>& texts) {
    Assignments result;
    for (const std::string& text : texts) {
        assembly.attempt([&] {
            Node node = parse_assignment(assembly.library, text);
            const bool whole =
                node.find("variants") || node.find("expect") || node.find("measured") || node.find("knobs");
            (whole ? result.to_scenario : result.to_all).push_back(std::move(node));
        });
    }
    return result;
}

Node take(Node& node, std::string_view key) {
    Entry* const found = node.entry(key);
    if (!found) return {};
    Node value = std::move(found->value);
    node.entries.erase(node.entries.begin() + (found - node.entries.data()));
    return value;
}

void change(Assembly& assembly, Node& document, const Node& changes) {
    drop_alternatives(document, changes);
    merge(document, changes);
    // A job's scenario is read when all changes are known: it has the keys that they remove.
    const Node* const changed = changes.find("jobs");
    Node* const jobs = document.find("jobs");
    if (changed != nullptr && jobs != nullptr)
        for (const Entry& entry : changed->entries)
            if (Node* const job = jobs->find(entry.key); job != nullptr && job->find("scenario") != nullptr)
                keep_removals(*job, entry.value);
    assembly.expand_references(document);
}

ScenarioFile take_apart(Assembly& assembly, Node document) {
    Node variants = take(document, "variants");
    Node expectations = take(document, "expect");
    Node measured = take(document, "measured");
    Node knobs = take(document, "knobs");
    if (variants.kind != Node::Kind::null && variants.kind != Node::Kind::mapping)
        assembly.report(variants.mark, "'variants' is not a mapping", "write the keys that differ, by variant");
    const bool has_variants = !variants.entries.empty();
    std::erase_if(variants.entries, [&](Entry& variant) { return !prepare(assembly, variant); });
    if (!has_variants) variants.entries.push_back({"base", document.mark, mapping_at({})});
    assembly.expand_references(document);
    return {std::move(document),     std::move(variants.entries), has_variants,
            std::move(expectations), std::move(measured),         std::move(knobs)};
}

}  // namespace syncline::config

#pragma once

#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/document/document.hpp"

namespace syncline::config {

/// A scenario's file. The document of each variant is the base with the variant's changes.
struct ScenarioFile {
    Node base;                    ///< without the keys below; files' content in place of their names
    std::vector<Entry> variants;  ///< the changes by name; one called "base" if the file has none
    bool has_variants = false;
    Node expectations;
    Node measured;
    Node knobs;
};

/// Divides the document of a scenario, whose paths are split, into its parts. Reports errors to `assembly`.
ScenarioFile take_apart(Assembly& assembly, Node document);

/// Merges `changes` into a document, whose values they override, and replaces files' names by their content.
void change(Assembly& assembly, Node& document, const Node& changes);

/// `--set` values by their target: the scenario as a whole, before variants are made, or every variant.
struct Assignments {
    std::vector<Node> to_scenario;
    std::vector<Node> to_all;
};

/// Parses `--set` values. Reports errors to `assembly`.
Assignments parse_assignments(Assembly& assembly, const std::vector<std::string>& texts);

/// Removes `key` from a mapping and returns its value; a null if there is none.
Node take(Node& mapping, std::string_view key);

}  // namespace syncline::config

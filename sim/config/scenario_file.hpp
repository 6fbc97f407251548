#pragma once

#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/config/document.hpp"

namespace syncline::config {

/// A scenario's file, from which the document of each variant is made by changing the base.
struct ScenarioFile {
    Node base;                    ///< without the keys below; what files hold in place of their names
    std::vector<Entry> variants;  ///< from a name to what differs; one called "base" where the file has none
    bool has_variants = false;
    Node expectations;
    Node measured;
};

/// Takes the document of a scenario apart, whose paths are split. What is wrong with it is reported to `assembly`.
ScenarioFile take_apart(Assembly& assembly, Node document);

/// Merges `changes` into a document, last wins, with what files hold in place of their names.
void change(Assembly& assembly, Node& document, const Node& changes);

/// `--set` values by what they change: the scenario as a whole, before any variant is made, or every variant.
struct Assignments {
    std::vector<Node> to_scenario;
    std::vector<Node> to_all;
};

/// What is wrong with them is reported to `assembly`.
Assignments parse_assignments(Assembly& assembly, const std::vector<std::string>& texts);

/// Takes the value of `key` out of a mapping; a null if it is not there.
Node take(Node& mapping, std::string_view key);

}  // namespace syncline::config

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/lowering/open_plan.hpp"
#include "sim/plan/plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/workload/model.hpp"

/// The rows of the table of rules, and how they ask: see rules.hpp.
namespace syncline {

/// Asks about a plan alone, or about a model and a cluster, too.
template <class Answer>
using Question = std::variant<Answer (*)(const Plan&), Answer (*)(const Plan&, const OpenPlan&),
                              Answer (*)(const Plan&, const Model&), Answer (*)(const Cluster&),
                              Answer (*)(const Plan&, const Model&, const Cluster&)>;

/// A key of `training` or `collective` with a value, or something else that a rule names in words.
struct Setting {
    std::string_view key;    ///< the path to blame; empty: nothing that a plan says
    std::string_view value;  ///< of the key, empty: any that has an effect; or the words
    /// Nothing: whether the key is written (OpenPlan::written).
    std::optional<Question<bool>> holds = std::nullopt;
};

/// Each of the settings needs, or excludes, the other one. The first is to blame.
struct Rule {
    std::vector<Setting> settings;
    enum class Relation { needs, excludes } relation;
    Setting other;
    /// The reason, and what to write. {setting} and {other} are names of the two, other words in braces are values.
    std::string_view why, write;
    std::string (OpenPlan::*otherwise)() const = nullptr;  ///< see Complaint
};

const std::vector<Rule>& rule_table();

}  // namespace syncline

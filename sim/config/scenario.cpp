#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "sim/base/did_you_mean.hpp"
#include "sim/config/assembly.hpp"
#include "sim/config/expect.hpp"
#include "sim/config/jobs_keys.hpp"
#include "sim/config/open_keys.hpp"
#include "sim/config/resolved.hpp"
#include "sim/config/scenario.hpp"
#include "sim/config/scenario_file.hpp"
#include "sim/config/variant.hpp"
#include "sim/document/override.hpp"

namespace syncline::config {

namespace {

/// Reports a study, all of whose keys would be wrong in a scenario, and throws.
void refuse_study(Assembly& assembly, const Node& document, const std::string& path) {
    if ((!document.find("base") && !document.find("axes")) || document.find("training") ||
        document.find("collective") || document.find("trace") || document.find("jobs"))
        return;
    assembly.report(
        document.mark, "this is a study, not a scenario",
        fmt::format("`syncline batch {0}` simulates its points, `syncline explore {0}` finds the best", path));
    assembly.finish();
}

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns whether one of the names is the variant's, or may be that of one of its choices, which continue it.
bool may_be_chosen(const Names& only, const std::string& variant) {
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& name) {
               return name == variant || name.starts_with(variant + " ");
           });
}

/// Throws ConfigError unless each name is that of a variant that was read, or of one with choices.
void require_variants(const Scenario& scenario, const std::vector<Entry>& all, const Names& only) {
    Names read, known;
    for (const Entry& entry : all) known.push_back(entry.key);
    for (const Variant& variant : scenario.variants) {
        read.insert(read.end(), {variant.name, variant.choice_of});
        if (!holds(known, variant.name)) known.push_back(variant.name);
    }
    std::vector<Diagnostic> errors;
    for (const std::string& name : only)
        if (name.empty() || !holds(read, name))
            errors.push_back({{"--variant", 1, 1, name},
                              fmt::format("unknown variant '{}'", name),
                              did_you_mean(name, known, fmt::format("the variants are {}", fmt::join(known, ", ")))});
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

/// Adds the variant of this document, or each of its choices; of those, only the chosen ones.
void add_variants(Scenario& scenario, Variant variant, Node document, GridChoices choices, const Names& only,
                  const std::vector<OtherFile>& files) {
    for (const std::string& why : choices.left_out) scenario.left_out.push_back(variant.name + " " + why);
    if (choices.fitting.empty()) {
        variant.resolved = resolve(std::move(document), files).text();
        return scenario.variants.push_back(std::move(variant));
    }
    for (GridChoice& choice : choices.fitting) {
        Variant chosen = variant;
        chosen.name = fmt::format("{} {}x{}", variant.name, choice.rows, choice.columns);
        if (!only.empty() && !holds(only, variant.name) && !holds(only, chosen.name)) continue;
        chosen.choice_of = variant.name;
        chosen.plan = choice.lowered->plan;
        Node settled = document;
        set_grid(settled, choice.rows, chosen.plan.parallelism.sequence);
        chosen.resolved = resolve(std::move(settled), files).text();
        chosen.keep(std::move(choice.lowered));
        scenario.variants.push_back(std::move(chosen));
    }
}

}  // namespace

void describe(Fields& fields, Scenario& scenario) {
    Variant base;
    GridChoices choices;
    describe_variant(fields, scenario.name, base, choices, {});
}

Scenario load_scenario(const std::string& path, const std::vector<std::string>& assignments, const Inspect& inspect,
                       std::uint64_t seed, const std::vector<std::string>& only,
                       const std::map<std::string, std::vector<std::string>>& plans) {
    Assembly assembly;
    Node base = assembly.library.load_argument(path);
    const Assignments changes = parse_assignments(assembly, assignments);
    Scenario scenario;
    if (base.kind != Node::Kind::mapping) {
        assembly.read(base, "scenario", [&](Fields& fields) { describe(fields, scenario); });
        assembly.finish();
    }
    refuse_study(assembly, base, path);
    assembly.attempt([&] { split_paths(base); });
    for (const Node& further : changes.to_scenario) merge(base, further);
    ScenarioFile file = take_apart(assembly, std::move(base));
    for (const Entry& entry : file.variants) {
        if (!may_be_chosen(only, entry.key)) continue;
        Node document = file.base;
        change(assembly, document, entry.value);
        for (const Node& further : changes.to_all) change(assembly, document, further);
        if (const auto plan = plans.find(entry.key); plan != plans.end())
            for (const std::string& assignment : plan->second)
                change(assembly, document, parse_assignment(assembly.library, assignment));
        expand_jobs(assembly, document);
        scenario.name = std::filesystem::path(path).stem().string();
        GridChoices choices;
        Variant variant = read_variant(assembly, document, entry.key, scenario.name, choices, inspect, seed);
        const auto kind = [](const Variant& one) {
            return std::tuple(one.collective.has_value(), one.trace.has_value(), one.jobs.has_value());
        };
        if (!scenario.variants.empty() && kind(variant) != kind(scenario.variants[0]))
            assembly.report(
                entry.mark,
                fmt::format("trainings, single exchanges, traces and jobs cannot be compared: variant '{}' differs "
                            "from the others",
                            entry.key),
                "write a separate scenario for each");
        add_variants(scenario, std::move(variant), std::move(document), std::move(choices), only,
                     assembly.take_other_files());
    }
    scenario.knobs = read_knobs(assembly, file);
    if (assembly.sound()) require_variants(scenario, file.variants, only);
    read_expectations(assembly, file.expectations, !assignments.empty() || !only.empty(), scenario);
    assembly.finish();
    return scenario;
}

}  // namespace syncline::config

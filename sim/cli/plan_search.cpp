#include "sim/cli/plan_search.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "sim/base/diagnostics.hpp"
#include "sim/output/written_files.hpp"
#include "sim/planning/search_text.hpp"
#include "sim/process/memory_limit.hpp"

namespace syncline::cli {

namespace {

planning::Found found_for(const config::Variant& variant, const PlanSearch& how) {
    ProgressLine progress(variant.name, ProgressLine::Elsewhere::lines);
    planning::Search search{.jobs = how.jobs, .memory_bytes = usable_memory_bytes()};
    if (!how.simulates) search.simulated = 0;
    search.watch = shown_search(progress, variant.name);
    return planning::search(variant.cluster, variant.model, variant.plan, variant.open, search);
}

/// Returns the keys that make a variant's plan the one that is found.
std::vector<std::string> settings_of(const planning::FoundPlan& plan, Fidelity fidelity) {
    // Keys that were written and are no choices remain.
    std::vector<std::string> settings{"training.parallelism.auto=~", "training.parallelism.pipeline.micro_batch_size=~",
                                      "training.parallelism=" + plan.text};
    // The search has simulated the plan folded.
    if (fidelity == Fidelity::automatic) settings.emplace_back("training.fidelity=auto");
    if (!plan.recomputation.empty()) settings.push_back("training.recomputation=" + plan.recomputation);
    return settings;
}

}  // namespace

decltype(planning::Search::watch) shown_search(ProgressLine& progress, const std::string& name) {
    using Step = planning::Search::Step;
    progress.begin(name + ": plans considered");
    return [&progress, name, last = Step::considering](Step step, std::uint64_t done, std::uint64_t total) mutable {
        if (step != last)
            progress.begin(name + (step == Step::simulating ? ": simulated plans" : ": plans for remedies"));
        last = step;
        progress.count(done, total);
    };
}

config::Scenario with_plans(const std::function<config::Scenario(const Plans&)>& load, const PlanSearch& how) {
    config::Scenario scenario = load({});
    Plans plans;
    std::string csv = planning::csv_head();
    std::vector<Diagnostic> without;
    for (const config::Variant& variant : scenario.variants) {
        if (!variant.open.everything) continue;
        if (planning::nothing_open(variant.open))
            throw ConfigError({{variant.training,
                                fmt::format("variant '{}': `parallelism: {{auto: true}}` has nothing to search, since "
                                            "all keys are written",
                                            variant.name),
                                "remove `auto`, or a key"}});
        const planning::Found found = found_for(variant, how);
        say("{}", planning::to_text(variant.name, found));
        csv += planning::to_csv(variant.name, found);
        if (found.considered.of == 0)
            without.push_back(
                {variant.training,
                 fmt::format("variant '{}': no plan has the keys that are written beside 'auto: true'", variant.name),
                 "sizes must divide the ranks, and values go together; the plan without `auto` says what is wrong"});
        else if (found.plans.empty())
            without.push_back({variant.training,
                               fmt::format("variant '{}': none of {} plans of `parallelism: auto` fits", variant.name,
                                           found.considered.choices),
                               found.remedies.empty() ? "see the reasons above" : "see the remedies above"});
        else
            plans[variant.name] = settings_of(found.plans.front(), variant.plan.fidelity);
    }
    if (!without.empty()) throw ConfigError(std::move(without));
    if (plans.empty()) return scenario;
    if (!how.directory.empty()) write_file(std::filesystem::path(how.directory) / "plans.csv", csv);
    return load(plans);
}

}  // namespace syncline::cli

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "sim/base/diagnostics.hpp"
#include "sim/cli/explained.hpp"
#include "sim/cli/plan_search.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/report_option.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/trace_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/work_check.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/presets.hpp"
#include "sim/explain/exchange_explanation.hpp"
#include "sim/explain/explain.hpp"
#include "sim/iteration/sweep.hpp"
#include "sim/jobs/jobs_experiment.hpp"
#include "sim/output/explanation_output.hpp"
#include "sim/output/jobs_output.hpp"
#include "sim/output/written_files.hpp"
#include "sim/process/pool.hpp"
#include "sim/replay/native.hpp"
#include "sim/report/report.hpp"

namespace syncline::cli {

namespace {

struct ExplainArguments {
    std::string scenario;
    std::vector<std::string> assignments, only, changes;
    Format format = Format::table;
    std::string directory, report;
    TableOptions tables;
    std::uint64_t seed = 1;
    bool allow_oom = false, force = false, no_what_if = false;
    TraceOptions trace;
};

config::Scenario load(const ExplainArguments& options) {
    const auto read = [&](const Plans& plans) {
        return shown_as("reading " + options.scenario, [&] {
            return config::load_scenario(options.scenario, options.assignments, inspect, options.seed, options.only,
                                         plans);
        });
    };
    config::Scenario scenario = with_plans(read, {default_jobs(), true, options.directory});
    say_left_out(scenario.left_out);
    if (scenario.variants.front().collective && (options.trace.format || !options.report.empty()))
        throw ConfigError({{{options.scenario, 1, 1, ""},
                            "`--trace` and `--report` of `explain` need a training, and this scenario has a single "
                            "collective operation",
                            "remove them, or use `syncline run`"}});
    return scenario;
}

std::vector<Change> changes_of(const ExplainArguments& options) {
    if (options.no_what_if) return {};
    if (options.changes.empty()) return every_change();
    std::vector<Change> changes;
    for (const std::string& text : options.changes) changes.push_back(parse_change(text));
    return changes;
}

/// Explains each size of each variant.
void explain_exchanges(const config::Scenario& scenario, const ExplainArguments& options) {
    std::vector<Change> changes;
    for (const std::string& text : options.changes) changes.push_back(parse_change(text));
    ExchangeExplainReport report{scenario.name, {}};
    for (const config::Variant& variant : scenario.variants)
        for (const std::uint64_t bytes : sizes_of(*variant.collective)) {
            CollectivePlan plan = *variant.collective;
            plan.bytes = bytes;
            ProgressLine progress(variant.name);
            report.explanations.push_back(
                explain_exchange(variant.cluster, plan, changes, !options.no_what_if, progress.watch()));
            report.explanations.back().variant = variant.name;
        }
    write_result(report, options.format, options.directory, "explanation", options.tables);
}

/// Writes which neighbours take which links from each job.
void explain_jobs(const config::Scenario& scenario, const ExplainArguments& options) {
    if (options.trace.format || !options.changes.empty())
        throw ConfigError({{{options.scenario, 1, 1, ""},
                            "`--trace` and `--what-if` of `explain` need a training, and this scenario has jobs that "
                            "share a platform",
                            "remove them, or write a scenario with one of the jobs"}});
    check_memory(scenario, options.allow_oom);
    JobsExplainReport report{scenario.name, {}};
    for (const config::Variant& variant : scenario.variants) {
        ProgressLine progress(variant.name);
        report.results.push_back(simulate(variant.cluster, *variant.jobs, progress.watch()));
        report.results.back().variant = variant.name;
    }
    write_result(report, options.format, options.directory, "explanation", options.tables);
    if (options.report.empty()) return;
    std::vector<PageVariant> pages;
    for (const config::Variant& variant : scenario.variants)
        pages.push_back({variant.name, nullptr, nullptr, nullptr, "", variant.resolved});
    write_file(options.report, jobs_page({report.name, report.results}, pages));
}

void explain_verb(const ExplainArguments& options) {
    const config::Scenario scenario = load(options);
    check_work(scenario, options.force);
    if (scenario.variants.front().collective) return explain_exchanges(scenario, options);
    if (scenario.variants.front().jobs) return explain_jobs(scenario, options);
    std::vector<std::filesystem::path> traces;
    if (options.trace.format) traces = trace_files(scenario, options.trace, options.directory);
    check_memory(scenario, options.allow_oom);
    ExplainReport report{scenario.name, {}};
    ReportData page{{scenario.name, {}}, {}, {}, ""};
    for (const config::Variant& variant : scenario.variants) {
        std::optional<ProgressLine> progress(std::in_place, variant.name);
        ExplainOptions how;
        how.watch = progress->watch();
        how.changes = changes_of(options);
        how.every_rank = !traces.empty();
        how.plans = !options.no_what_if && options.changes.empty();
        TimelineView view;
        const bool draws = !traces.empty() || !options.report.empty();
        const std::size_t number = report.explanations.size();
        Explanation& explanation = report.explanations.emplace_back(explained(variant, how, draws ? &view : nullptr));
        explanation.result.variant = variant.name;
        explanation.result.choice_of = variant.choice_of;
        progress.reset();
        if (!traces.empty())
            write_trace(view, lowered_of(variant), options.trace, traces[number],
                        fmt::format("{}: {}", scenario.name, variant.name), explanation.level_reason);
        if (options.report.empty()) continue;
        page.variants.push_back(page_variant(variant.cluster, lowered_of(variant), explanation, &view, variant.resolved,
                                             page_limits(scenario.variants.size())));
        page.report.results.push_back(explanation.result);
    }
    write_result(report, options.format, options.directory, "explanation", options.tables);
    if (!options.report.empty()) {
        mark_best(page.report);
        write_file(options.report, report_page(page));
    }
}

}  // namespace

void add_explain(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "explain", "syncline explain vgg-16-overlap --variant wait-free",
                 "Explain the time of each variant of a scenario: of an iteration, or of a collective operation");
    verb->footer(
        "Recording messages disables folding. Above 8 million messages only tasks are recorded, and messages may be "
        "folded.");
    const auto options = std::make_shared<ExplainArguments>();
    verb->add_option("SCENARIO", options->scenario,
                     "Scenario file, or the name of one in scenarios/ or scenarios/published/ (zhang-2021)")
        ->required();
    add_set(*verb, options->assignments, "Set a key of every variant; later values override earlier ones");
    add_variant(*verb, options->only);
    CLI::Option* const what_if =
        add_repeated(
            *verb, "--what-if", options->changes, "'RESOURCE xFACTOR'",
            "Simulate again with one resource scaled: 'link:nic x2', 'latency x0.5'. Resources: device, memory, "
            "link:nic, link:fabric, link:node, latency, transport, batch (default: each, twice as good)")
            ->check([](const std::string& text) -> std::string {
                try {
                    parse_change(text);
                    return "";
                } catch (const std::invalid_argument& error) {
                    return error.what();
                }
            });
    verb->add_flag("--no-what-if", options->no_what_if, "Skip the what-if simulations")->excludes(what_if);
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    add_report(*verb, options->report, "Also write the explanation as a single HTML page with charts");
    add_out(*verb, options->directory, "Also write explanation.json, explanation.csv and explanation.txt to DIR");
    verb->add_flag("--allow-oom", options->allow_oom,
                   "Also simulate variants that do not fit into the devices' memory");
    add_force(*verb, options->force);
    add_seed(*verb, options->seed);
    add_trace_options(*verb, options->trace);
    verb->callback([options, &action] {
        action = [options] {
            options->scenario = config::find_argument(options->scenario, {"scenario", "measured"});
            explain_verb(*options);
        };
    });
}

}  // namespace syncline::cli

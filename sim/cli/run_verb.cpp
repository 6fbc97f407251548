#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "sim/analysis/dry_run.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/batch/variant_run.hpp"
#include "sim/cli/batch_options.hpp"
#include "sim/cli/explained.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/plan_search.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/report_option.hpp"
#include "sim/cli/run_verb.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/terminal.hpp"
#include "sim/cli/trace_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/work_check.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/presets.hpp"
#include "sim/explain/explain.hpp"
#include "sim/output/expected_fields.hpp"
#include "sim/output/writers.hpp"
#include "sim/output/written_files.hpp"
#include "sim/replay/native.hpp"
#include "sim/report/report.hpp"

namespace syncline::cli {

namespace {

/// Refuses what there is of one training only.
void refuse_for_jobs(const RunOptions& options) {
    const auto refuse = [](const char* option, const char* why) {
        throw ConfigError({{{option, 1, 1, option}, why, "remove it, or write a scenario with one of the jobs"}});
    };
    if (options.dry) refuse("--dry-run", "jobs have no exchanges to choose");
    if (options.trace.format) refuse("--trace", "jobs that share a platform have no timeline");
}

/// Checks that the scenario has expectations, if they are to be compared, and that results have their fields.
void require_expectations(const config::Scenario& scenario, const RunOptions& options) {
    require_fields(scenario.expectations, scenario.variants.front().collective.has_value());
    if (!options.check) return;
    if (scenario.expectations.empty()) {
        const bool left = scenario.expectations_left_out > 0;
        throw ConfigError({{{options.scenario, 1, 1, ""},
                            "nothing to check",
                            left ? "--set or --variant removes the variants or sizes of all expectations in the file"
                                 : "list the expected results under `expect:` in the scenario"}});
    }
    if (!options.assignments.empty()) say("note: the expectations were written for the file without --set\n");
    if (scenario.expectations_left_out > 0)
        say("note: {} of {} expectations are skipped: --set or --variant removes their variant or size\n",
            scenario.expectations_left_out, scenario.expectations_left_out + scenario.expectations.size());
}

/// Refuses curves over ranks of variants whose plan is found for their own number of ranks.
void require_no_scaling(const config::Scenario& scenario, const RunOptions& options) {
    if (!options.scaling) return;
    for (const config::Variant& variant : scenario.variants)
        if (variant.open.everything)
            throw ConfigError({{variant.training,
                                fmt::format("'--scaling' needs the same plan for every number of ranks, but variant "
                                            "'{}' has `parallelism: auto`",
                                            variant.name),
                                "remove '--scaling', or write the plan that is found"}});
}

/// Loads the scenario, applies the seed, and finds the plans that it leaves open.
config::Scenario load(const RunOptions& options) {
    const auto read = [&](const Plans& plans) {
        config::Scenario scenario = shown_as("reading " + options.scenario, [&] {
            return config::load_scenario(options.scenario, options.assignments, inspect, options.seed, options.only,
                                         plans);
        });
        require_no_scaling(scenario, options);
        return scenario;
    };
    config::Scenario scenario = with_plans(read, {options.repeating.jobs, !options.dry, options.directory});
    if (options.timing) say_timing("scenario read");
    Report empty;
    if (scenario.variants.front().jobs) empty.results.emplace_back().jobs.emplace();
    options.tables.check(scenario.variants.front().collective ? table_columns(SweepResult{}) : table_columns(empty),
                         options.format);
    say_left_out(scenario.left_out);
    require_expectations(scenario, options);
    return scenario;
}

void run_dry(const config::Scenario& scenario, const RunOptions& options) {
    DryRunReport report{scenario.name, {}};
    for (const config::Variant& variant : scenario.variants) {
        report.results.push_back(shown_as("estimating " + variant.name, [&] {
            return variant.collective ? dry_run(variant.cluster, *variant.collective) : dry_run(variant.lowered());
        }));
        report.results.back().variant = variant.name;
    }
    announce_work(report);
    write_result(report, options.format, options.directory, "dry-run", options.tables);
}

/// Writes the results and, with --check, the comparison with the expectations. Throws Failed if one is missed.
template <class AnyReport>
void write(const AnyReport& report, const config::Scenario& scenario, const RunOptions& options) {
    if (!options.check) return write_result(report, options.format, options.directory, "results", options.tables);
    const std::vector<Check> checks = check(scenario.expectations, report);
    const std::string json = to_json(report, checks), csv = to_csv(checks);
    const auto table = [&](const text::TableLayout& layout) {
        return to_table(report, layout) + "\n" + to_table(checks, layout);
    };
    if (!options.directory.empty()) {
        const std::filesystem::path directory = options.directory;
        write_file(directory / "results.json", json);
        write_file(directory / "results.csv", to_csv(report));
        write_file(directory / "results.txt", table(options.tables.in_files()));
        write_file(directory / "checks.csv", csv);
    }
    if (options.format == Format::table)
        write_table(table(options.tables.on_stdout()));
    else
        write_stdout(options.format == Format::json ? json : csv);
    const auto missed = std::count_if(checks.begin(), checks.end(), [](const Check& one) { return !one.ok; });
    if (missed > 0) throw Failed(fmt::format("{} of {} expectations FAILED", missed, checks.size()));
}

void run_exchanges(const config::Scenario& scenario, const RunOptions& options) {
    SweepReport report{scenario.name, {}};
    for (const config::Variant& variant : scenario.variants) {
        ProgressLine progress(variant.name, options.timing);
        report.results.push_back(simulate_sweep(variant.cluster, *variant.collective, progress.watch()));
        if (options.timing) say_timing(variant.name + ": simulated");
        report.results.back().variant = variant.name;
    }
    if (options.scaling) say("note: --scaling has no effect: it applies to trainings only\n");
    if (options.repeating.times > 1) say("note: --repeat has no effect: it applies to trainings only\n");
    if (!options.report.empty()) {
        std::vector<PageVariant> pages;
        for (const config::Variant& variant : scenario.variants)
            pages.push_back({variant.name, nullptr, nullptr, nullptr, "", variant.resolved});
        write_file(options.report, report_page(report, pages));
    }
    write(report, scenario, options);
}

/// Outputs of a variant besides its result.
struct Wanted {
    std::filesystem::path trace;                ///< empty: no timeline
    std::vector<PageVariant>* pages = nullptr;  ///< null: no report
    std::size_t variants = 1;                   ///< number of variants that share the report
};

/// Simulates a variant; records what happens if a timeline or a report is wanted.
Result simulated(const config::Scenario& scenario, const config::Variant& variant, const RunOptions& options,
                 const Wanted& wanted) {
    std::optional<ProgressLine> progress(std::in_place, variant.name, options.timing);
    const auto named = [&](Result& result) {
        result.variant = variant.name;
        result.choice_of = variant.choice_of;
    };
    if ((wanted.trace.empty() && wanted.pages == nullptr) || variant.jobs) {
        Result result = batch::simulated(variant, progress->watch());
        named(result);
        if (wanted.pages != nullptr)
            wanted.pages->push_back({variant.name, nullptr, nullptr, nullptr, "", variant.resolved});
        return result;
    }
    ExplainOptions how;
    how.watch = progress->watch();
    how.uncontended = wanted.pages != nullptr;
    how.every_rank = !wanted.trace.empty();
    if (wanted.pages == nullptr && options.trace.only_tasks()) how.most_messages = 0;
    TimelineView view;
    Explanation explanation = explained(variant, how, &view);
    named(explanation.result);
    progress.reset();
    if (!wanted.trace.empty())
        write_trace(view, lowered_of(variant), options.trace, wanted.trace,
                    fmt::format("{}: {}", scenario.name, variant.name), explanation.level_reason);
    if (wanted.pages != nullptr)
        wanted.pages->push_back(page_variant(variant.cluster, lowered_of(variant), explanation, &view, variant.resolved,
                                             page_limits(wanted.variants)));
    return std::move(explanation.result);
}

void write_report(const Report& report, std::vector<PageVariant> pages, const RunOptions& options) {
    if (report.results.front().jobs) return write_file(options.report, jobs_page(report, pages));
    ReportData data{report, std::move(pages), {}, ""};
    if (options.scaling)
        data.scaling = scaling_curves(options.scenario, options.assignments, options.seed, options.only, report,
                                      data.scaling_note);
    write_file(options.report, report_page(data));
}

}  // namespace

void run(const RunOptions& options) {
    constexpr double steady = 1e-6, precise = 0.01;
    const config::Scenario scenario = load(options);
    if (scenario.variants.front().jobs) refuse_for_jobs(options);
    if (options.dry && scenario.variants.front().trace)
        throw ConfigError({{{"--dry-run", 1, 1, ""}, "a trace has no exchanges to choose", "remove it"}});
    if (options.dry) return run_dry(scenario, options);
    check_work(scenario, options.force);
    std::vector<std::filesystem::path> traces(scenario.variants.size());
    if (options.trace.format) traces = trace_files(scenario, options.trace, options.directory);
    if (scenario.variants.front().collective) return run_exchanges(scenario, options);
    check_memory(scenario, options.allow_oom);
    if (!options.report.empty()) require_writable(options.report);
    Report report{scenario.name, {}};
    std::vector<PageVariant> pages;
    for (const config::Variant& variant : scenario.variants) {
        Result result = simulated(
            scenario, variant, options,
            {traces[report.results.size()], options.report.empty() ? nullptr : &pages, scenario.variants.size()});
        if (options.timing) say_timing(variant.name + ": simulated");
        if (result.time.drift > steady) {
            say("note: {}: the last two iterations differ by {:.2g} %; raise training.iterations to reach a steady "
                "state\n",
                variant.name, 100 * result.time.drift);
        }
        const bool differ = variant.plan.noise.varies() || variant.plan.documents;
        if (differ && options.repeating.times == 1 && result.time.standard_error > precise) {
            say("note: {}: the mean iteration time with {} has a standard error of {:.2g} %; raise "
                "training.iterations to reduce it\n",
                variant.name, variant.plan.noise.varies() ? "jitter" : "documents", 100 * result.time.standard_error);
        }
        report.results.push_back(std::move(result));
    }
    if (options.repeating.times > 1) {
        repeat(scenario, report, options.seed, options.repeating, options.allow_oom);
        if (options.timing) say_timing("repetitions simulated");
    }
    mark_best(report);
    // The results are written before the page: a page that cannot be written does not lose them.
    std::exception_ptr missed;
    try {
        write(report, scenario, options);
    } catch (const Failed&) {
        missed = std::current_exception();
    }
    if (!options.report.empty()) write_report(report, std::move(pages), options);
    if (missed) std::rethrow_exception(missed);
}

void add_run(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "run", "syncline run zhang-2021 --set training.ranks=16",
                 "Simulate a training iteration, or a collective operation, of each variant of a scenario");
    const auto options = std::make_shared<RunOptions>();
    verb->add_option("SCENARIO", options->scenario,
                     "Scenario file, or the name of one in scenarios/ or scenarios/published/ (zhang-2021)")
        ->required();
    add_set(*verb, options->assignments,
            "Set a key of every variant: training.ranks=64, platform.fabric.bandwidth='100 Gbps'; later values "
            "override earlier ones");
    add_variant(*verb, options->only);
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    CLI::Option* const columns = add_columns(*verb, options->tables);
    add_out(*verb, options->directory, "Also write the results to DIR as results.json, results.csv and results.txt");
    CLI::Option* const dry =
        verb->add_flag("--dry-run", options->dry,
                       "List the buckets, the algorithm of each and the reason for its choice, and estimate "
                       "the size of the simulation, without simulating");
    columns->excludes(dry);
    verb->add_flag("--check", options->check,
                   "Compare the results with the scenario's expectations; exit with 1 if one is missed (with --format "
                   "csv, print the comparison instead of the results)")
        ->excludes(dry);
    verb->add_flag("--allow-oom", options->allow_oom,
                   "Also simulate variants that do not fit into the devices' memory");
    add_force(*verb, options->force);
    CLI::Option* const report = add_report(*verb, options->report,
                                           "Also write the results and their explanation as a single HTML page with "
                                           "charts; recording every message disables folding");
    report->excludes(dry);
    verb->add_flag("--scaling", options->scaling,
                   "Also simulate 1, 2, 4 ... ranks for the report; applies to trainings only")
        ->needs(report);
    add_seed(*verb, options->seed);
    CLI::Option* const repeated = add_repeat(
        *verb, options->repeating.times,
        "Number of seeds, derived from --seed, with which each training, or all jobs, are simulated: adds mean, "
        "median, "
        "and the 5 % and 95 % quantiles of the iteration time, or of the makespan and slowdown (default: 1)");
    repeated->excludes(dry);
    add_jobs(*verb, options->repeating.jobs)
        ->description(
            "Number of parallel simulations of --repeat and of `parallelism: auto` (default: number of cores)");
    add_trace_options(*verb, options->trace)->excludes(dry);
    verb->add_flag(
        "--timing", options->timing,
        "Print to standard error when each step ends, in seconds since the program's start, and its duration");
    verb->callback([options, &action] {
        action = [options] {
            options->scenario = config::find_argument(options->scenario, {"scenario", "measured"});
            run(*options);
            if (options->timing) say_timing("results written");
        };
    });
}

}  // namespace syncline::cli

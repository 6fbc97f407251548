#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>

#include "sim/base/diagnostics.hpp"
#include "sim/base/did_you_mean.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/cli/batch_options.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/measured_files.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/repeat.hpp"
#include "sim/cli/report_option.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/document/presets.hpp"
#include "sim/measured/measured.hpp"
#include "sim/measured/mechanisms.hpp"
#include "sim/output/written_files.hpp"
#include "sim/report/report.hpp"
#include "sim/validation/accuracy.hpp"
#include "sim/validation/chosen_rows.hpp"
#include "sim/validation/validation.hpp"
#include "sim/validation/validation_text.hpp"

namespace syncline::cli {

namespace {

using namespace validation;

struct ValidateArguments {
    std::vector<std::string> paths;
    std::vector<std::string> assignments;
    std::size_t jobs = 1;
    Format format = Format::table;
    TableOptions tables;
    std::string report;
    bool only_once = false, only_calibrated = false, check = false, list = false;
    ValidationOptions how;
    RowSelection selection;
    std::string mechanisms;
    double least_median = 0.93, least_row = 0.85;
};

/// Returns the reasons of all simulations that failed, in the order of the scenarios.
std::vector<std::string> failures_of(const Points& points) {
    std::vector<std::string> all = points.failed;
    for (const Validation& one : points.points)
        for (std::string& failure : one.failures()) all.push_back(std::move(failure));
    return all;
}

void require_accuracy(const Points& points, const ValidateArguments& options) {
    const AccuracyFigures all = figures(points.points, true);
    if (all.rows == 0) throw Failed("no row is predicted");
    std::string missed;
    const auto miss = [&](const std::string& what, double value, double least) {
        if (value < least)
            missed += fmt::format("{}{} is {:.3f}, below {:g}", missed.empty() ? "" : "; ", what, value, least);
    };
    miss("the median accuracy", *all.median_accuracy, options.least_median);
    for (const Validation& point : points.points)
        for (std::size_t row = 0; row < point.measurements.rows.size(); ++row)
            if (!point.measurements.rows[row].calibrates && !point.doubtful(row))
                miss(fmt::format("the accuracy of row '{}' of {}", point.measurements.rows[row].name, point.name),
                     point.accuracy(row), options.least_row);
    if (!missed.empty()) throw Failed(missed);
}

void require_series(const std::vector<config::MeasuredScenario>& scenarios, const std::vector<std::string>& names) {
    const std::vector<std::string> known = series_names(scenarios);
    for (const std::string& name : names)
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw UsageError(fmt::format("--series: there is no series '{}'\n  hint: {}", name,
                                         did_you_mean(name, known, "`syncline validate --list` has their names")));
}

/// Throws ConfigError with the scenarios in which a parameter would replace what a mechanism changes.
void require_mechanisms(const std::vector<config::MeasuredScenario>& scenarios, const config::Mechanisms& mechanisms) {
    for (const config::MeasuredScenario& scenario : scenarios)
        for (const config::Alternative& mechanism : mechanisms.all()) scenario.require(mechanism);
}

void validate_verb(const ValidateArguments& options) {
    if (!options.mechanisms.empty() && options.format == Format::csv)
        throw UsageError("--ablate has no place in CSV, which has a line for each row\n  hint: write --format json");
    std::vector<config::MeasuredScenario> scenarios = load_measured(options.paths, options.assignments);
    require_series(scenarios, options.selection.series);
    RowSelection selection = options.selection;
    selection.seed = options.how.rows.seed;
    const std::optional<Sample> sample = select(scenarios, selection);
    if (sample && options.format == Format::csv) say("note: {}", sentence(*sample));
    if (options.list) {
        RowNames names;
        names.sample = sample;
        for (const config::MeasuredScenario& scenario : scenarios) {
            names.points.push_back({scenario.name(), scenario.measurements()});
            if (options.format != Format::json) continue;
            for (const config::MeasuredRow& row : scenario.measurements().rows)
                names.points.back().trainings.push_back(training_of(scenario, row));
        }
        return write_result(names, options.format, "", "", options.tables);
    }
    if (!options.report.empty()) require_writable(options.report);
    ValidationOptions how = options.how;
    how.leave_one_out = !options.only_once;
    how.uncalibrated = !options.only_calibrated;
    std::optional<config::Mechanisms> mechanisms;
    if (!options.mechanisms.empty()) {
        mechanisms.emplace(config::find_argument(options.mechanisms, {"ablation"}));
        require_mechanisms(scenarios, *mechanisms);
        how.mechanisms = mechanisms->all();
    }
    Points points;
    points.sample = sample;
    {
        ProgressLine line("validating", false, ProgressLine::Elsewhere::lines);
        Simulator simulator(options.jobs, [&](std::size_t simulations) { line.count(simulations); });
        std::vector<std::optional<Validation>> found(scenarios.size());
        std::vector<std::string> lost(scenarios.size());
        if (scenarios.size() == 1) line.begin(scenarios.front().name());
        simulator.by_turns(
            scenarios.size(),
            [&](std::size_t i) {
                try {
                    found[i] = validation::validate(scenarios[i], simulator, how);
                } catch (const ReplayError& error) {
                    lost[i] = error.what();
                }
            },
            [&](std::size_t done) {
                line.begin(fmt::format("validating, {} of {} scenarios done", done, scenarios.size()));
            });
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            if (!lost[i].empty()) points.failed.push_back(std::move(lost[i]));
            if (found[i]) points.points.push_back(std::move(*found[i]));
        }
    }
    if (points.points.empty()) require_whole(points.failed);
    if (!options.report.empty()) write_file(options.report, report_page(points));
    write_result(points, options.format, "", "", options.tables);
    require_whole(failures_of(points));
    if (options.check) require_accuracy(points, options);
}

void add_limit(CLI::App& verb, const char* name, double& limit, const std::string& of, CLI::Option* check) {
    verb.add_option(name, limit, fmt::format("Minimum {} for --check (default: {:g})", of, limit))
        ->option_text("VALUE")
        ->check(CLI::Range(0.0, 1.0))
        ->check([](const std::string& text) {  // Range accepts NaN
            return std::isnan(std::strtod(text.c_str(), nullptr)) ? "not a number" : "";
        })
        ->needs(check);
}

}  // namespace

void add_validate(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "validate", "syncline validate m5-nccl-8-bytes",
                              "Compare predictions with published measurements");
    const auto options = std::make_shared<ValidateArguments>();
    verb->add_option(
        "SCENARIO", options->paths,
        "Scenarios with measurements: files, names of those in scenarios/published/ (m4-tcp), or directories "
        "of files (default: scenarios/published)");
    add_set(*verb, options->assignments, "Set a key of every row; later values override earlier ones");
    verb->add_flag("--no-leave-one-out", options->only_once, "Skip the leave-one-out sensitivity of the predictions");
    verb->add_flag("--no-uncalibrated", options->only_calibrated,
                   "Skip the predictions without calibration, with the values that the scenario has by itself");
    CLI::Option* const check = verb->add_flag(
        "--check", options->check,
        "Exit with 1 if the median accuracy of all predicted rows, or the accuracy of a reliable row, is too low");
    add_limit(*verb, "--least-median", options->least_median, "median accuracy", check);
    add_limit(*verb, "--least-row", options->least_row, "accuracy of a reliable row", check);
    add_repeated(*verb, "--series", options->selection.series, "NAME",
                 "Predict only this series: the name of one, or of a scenario, whose series are then all meant; with "
                 "the calibration rows that it needs");
    verb->add_option("--sample", options->selection.sample,
                     "Predict only this number of rows, drawn by --seed without replacement; each scenario contributes "
                     "in proportion to its predicted rows")
        ->option_text("N")
        ->check(whole_number(1));
    add_seed(*verb, options->how.rows.seed);
    verb->get_option("--seed")->description(verb->get_option("--seed")->get_description() +
                                            "; also draws the rows of --sample");
    CLI::Option* const assumptions = verb->add_flag("--assumptions", options->how.assumptions,
                                                    "Also predict with each assumption of the scenario in place of "
                                                    "what is written, with parameters estimated again; "
                                                    "the rows then have their lowest and highest prediction");
    CLI::Option* const ablate =
        verb->add_option("--ablate", options->mechanisms,
                         "Also predict without each of these mechanisms of the simulation, with parameters estimated "
                         "again; a table shows the median errors. A file, or the name of one in scenarios/ablations "
                         "(language-models)");
    ablate->option_text("NAME|FILE");
    CLI::Option* const repeat = add_repeat(
        *verb, options->how.repeats,
        "Number of seeds, derived from --seed, with which rows are predicted whose plan has something random; the "
        "prediction is their mean, and median and the 5 % and 95 % quantiles are added (default: 1)");
    verb->add_flag("--allow-oom", options->how.rows.allow_oom,
                   "Also simulate rows that do not fit into the devices' memory, and mark them");
    CLI::Option* const list =
        verb->add_flag("--list", options->list, "List the rows with their names and settings, without simulating");
    list->excludes(check);
    for (CLI::Option* const more : {assumptions, ablate}) {
        more->excludes(list);
        more->excludes(repeat);
    }
    add_jobs(*verb, options->jobs);
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    list->excludes(add_report(*verb, options->report, "Also write the comparison as a single HTML page with charts"));
    verb->callback([options, &action] { action = [options] { validate_verb(*options); }; });
}

}  // namespace syncline::cli

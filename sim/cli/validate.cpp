#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "sim/base/diagnostics.hpp"
#include "sim/cli/batch_options.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/report_option.hpp"
#include "sim/cli/simulation_count.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/measured.hpp"
#include "sim/output/files.hpp"
#include "sim/replay/native.hpp"
#include "sim/report/validation.hpp"
#include "sim/validation/show.hpp"
#include "sim/validation/validation.hpp"

namespace syncline::cli {

namespace {

namespace fs = std::filesystem;
using namespace validation;

struct Options {
    std::vector<std::string> paths{"scenarios/published"};
    std::vector<std::string> assignments;
    std::size_t jobs = 1;
    Format format = Format::table;
    std::string report;
    bool only_once = false, check = false;
    double least_median = 0.93, least_row = 0.85;
};

/// Of a directory those files that have measurements, by name.
std::vector<std::string> files_in(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return {path};
    std::vector<std::string> all, measured;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
        if (entry.path().extension() == ".yaml") all.push_back(entry.path().string());
    std::sort(all.begin(), all.end());
    for (const std::string& file : all) {
        if (config::is_measured(file))
            measured.push_back(file);
        else
            say("note: left out {}: it has no key 'measured'\n", file);
    }
    if (error || measured.empty())
        throw ConfigError({{{path, 1, 1, ""},
                            error ? "cannot be read: " + error.message() : "no scenario in it has the key 'measured'",
                            "name a scenario, or a directory of them"}});
    return measured;
}

std::vector<config::MeasuredScenario> load(const Options& options) {
    std::vector<config::MeasuredScenario> scenarios;
    std::vector<Diagnostic> errors;
    std::set<fs::path> seen;  // a file that is named twice counts once
    for (const std::string& path : options.paths) {
        for (const std::string& file : files_in(path)) {
            if (!seen.insert(fs::weakly_canonical(file)).second) continue;
            try {
                config::MeasuredScenario scenario({.scenario = file, .assignments = options.assignments}, inspect);
                require_fields(scenario);
                require_few_parameters(scenario);
                scenarios.push_back(std::move(scenario));
            } catch (const ConfigError& error) {
                errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
            }
        }
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
    return scenarios;
}

void require_accuracy(const Points& points, const Options& options) {
    const Figures all = figures(points.points, true);
    if (all.rows == 0) throw Failed("nothing is predicted");
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

void validate_verb(const Options& options) {
    const std::vector<config::MeasuredScenario> scenarios = load(options);
    Points points;
    {
        SimulationCount count;
        Simulator simulator(options.jobs, [&](std::size_t simulations) { count.show(simulations); });
        for (const config::MeasuredScenario& scenario : scenarios) {
            count.begin(scenario.name());
            points.points.push_back(validation::validate(scenario, simulator, !options.only_once));
        }
    }
    if (!options.report.empty()) write_file(options.report, report_page(points));
    write_result(points, options.format, "", "");
    if (options.check) require_accuracy(points, options);
}

void add_limit(CLI::App& verb, const char* name, double& limit, const std::string& of, CLI::Option* check) {
    verb.add_option(name, limit, fmt::format("the least accuracy {} for --check (default: {:g})", of, limit))
        ->option_text("PART")
        ->check(CLI::Range(0.0, 1.0))
        ->needs(check);
}

}  // namespace

void add_validate(CLI::App& program, Action& action) {
    CLI::App* verb = program.add_subcommand(
        "validate", "Hold predictions against what others have measured, with the accuracy of each");
    const auto options = std::make_shared<Options>();
    verb->add_option("SCENARIO", options->paths,
                     "scenarios with the key 'measured', or directories of them (default: scenarios/published)");
    verb->add_option("--set", options->assignments, "change a key of every row; last wins")
        ->option_text("KEY.PATH=VALUE ...")
        ->allow_extra_args(false);
    verb->add_flag("--no-leave-one-out", options->only_once,
                   "do not look how predictions change when a row that calibrates is left out");
    CLI::Option* const check =
        verb->add_flag("--check", options->check,
                       "exit 1 if the median over predicted rows, or one of them that nobody doubts, is too low");
    add_limit(*verb, "--least-median", options->least_median, "in the middle", check);
    add_limit(*verb, "--least-row", options->least_row, "of a row", check);
    add_jobs(*verb, options->jobs);
    add_format(*verb, options->format);
    add_report(*verb, options->report, "also write all of it as one page of HTML with charts");
    verb->callback([options, &action] { action = [options] { validate_verb(*options); }; });
}

}  // namespace syncline::cli

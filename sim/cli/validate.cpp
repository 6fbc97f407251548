#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "sim/base/diagnostics.hpp"
#include "sim/cli/batch_options.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/repeat.hpp"
#include "sim/cli/report_option.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/document/data_roots.hpp"
#include "sim/document/presets.hpp"
#include "sim/measured/measured.hpp"
#include "sim/output/files.hpp"
#include "sim/replay/native.hpp"
#include "sim/report/validation.hpp"
#include "sim/validation/show.hpp"
#include "sim/validation/validation.hpp"

namespace syncline::cli {

namespace {

namespace fs = std::filesystem;
using namespace validation;

struct ValidateArguments {
    std::vector<std::string> paths;
    std::vector<std::string> assignments;
    std::size_t jobs = 1;
    Format format = Format::table;
    TableOptions tables;
    std::string report;
    bool only_once = false, check = false, list = false;
    ValidationOptions how;
    double least_median = 0.93, least_row = 0.85;
};

/// Returns the YAML files of a directory, sorted by name.
std::vector<std::string> files_in(const fs::path& directory) {
    std::error_code error;
    std::vector<std::string> files;
    fs::directory_iterator entry(directory, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        if (entry->path().extension() == ".yaml") files.push_back(entry->path().string());
    if (error)
        throw ConfigError({{{directory.string(), 1, 1, ""},
                            "cannot be read: " + error.message(),
                            "name a scenario or a directory of scenarios"}});
    std::sort(files.begin(), files.end());
    return files;
}

/// Returns true for an unreadable file, too: loading it reports the error.
bool is_measured_or_broken(const std::string& file) {
    try {
        return config::is_measured(file);
    } catch (const ConfigError&) {
        return true;
    }
}

class Loading {
public:
    explicit Loading(const ValidateArguments& options) : options_(options) {}

    std::vector<config::MeasuredScenario> run() {
        std::vector<std::string> paths = options_.paths;
        if (paths.empty()) paths.push_back(config::data_folder("scenarios/published").string());
        for (const std::string& path : paths) {
            std::error_code error;
            if (fs::is_directory(path, error))
                attempt([&] { load_directory(path); });
            else
                attempt([&] { load(config::find_argument(path, {"scenario"})); });
        }
        if (!errors_.empty()) throw ConfigError(std::move(errors_));
        return std::move(scenarios_);
    }

private:
    /// Skips files without measurements; errors in one file do not hide those in others.
    void load_directory(const std::string& path) {
        bool any = false;
        for (const std::string& file : files_in(path)) {
            const bool measured = is_measured_or_broken(file);
            any = any || measured;
            if (measured)
                load(file);
            else
                say("note: skipped {}: it has no key 'measured'\n", file);
        }
        if (!any)
            throw ConfigError({{{path, 1, 1, ""},
                                "no scenario in this directory has the key 'measured'",
                                "name a scenario or a directory of scenarios"}});
    }

    void load(const std::string& file) {
        std::error_code error;
        const fs::path known = fs::weakly_canonical(file, error);
        if (!seen_.insert(error ? fs::path(file) : known).second) return;
        attempt([&] {
            config::MeasuredScenario scenario({.scenario = file, .assignments = options_.assignments}, inspect);
            require_fields(scenario);
            require_few_parameters(scenario);
            scenarios_.push_back(std::move(scenario));
        });
    }

    void attempt(const std::function<void()>& step) {
        try {
            step();
        } catch (const ConfigError& error) {
            errors_.insert(errors_.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }

    const ValidateArguments& options_;
    std::vector<config::MeasuredScenario> scenarios_;
    std::vector<Diagnostic> errors_;
    std::set<fs::path> seen_;  // counts a file that is named twice once
};

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

void validate_verb(const ValidateArguments& options) {
    const std::vector<config::MeasuredScenario> scenarios = Loading(options).run();
    if (options.list) {
        RowNames names;
        for (const config::MeasuredScenario& scenario : scenarios)
            names.points.push_back({scenario.name(), scenario.measurements()});
        return write_result(names, options.format, "", "", options.tables);
    }
    if (!options.report.empty()) require_writable(options.report);
    ValidationOptions how = options.how;
    how.leave_one_out = !options.only_once;
    Points points;
    {
        ProgressLine line("validating");
        Simulator simulator(options.jobs, [&](std::size_t simulations) { line.count(simulations); });
        for (const config::MeasuredScenario& scenario : scenarios) {
            line.begin(scenario.name());
            points.points.push_back(validation::validate(scenario, simulator, how));
        }
    }
    if (!options.report.empty()) write_file(options.report, report_page(points));
    write_result(points, options.format, "", "", options.tables);
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
    CLI::App* verb = program.add_subcommand("validate", "Compare predictions with published measurements");
    const auto options = std::make_shared<ValidateArguments>();
    verb->add_option("SCENARIO", options->paths,
                     "Scenarios with the key 'measured': files, names (m4-tcp), or directories of files (default: "
                     "scenarios/published)");
    verb->add_option("--set", options->assignments, "Set a key of every row; later values override earlier ones")
        ->option_text("KEY.PATH=VALUE ...")
        ->allow_extra_args(false);
    verb->add_flag("--no-leave-one-out", options->only_once, "Skip the leave-one-out sensitivity of the predictions");
    CLI::Option* const check = verb->add_flag(
        "--check", options->check,
        "Exit with 1 if the median accuracy of all predicted rows, or the accuracy of a reliable row, is too low");
    add_limit(*verb, "--least-median", options->least_median, "median accuracy", check);
    add_limit(*verb, "--least-row", options->least_row, "accuracy of a reliable row", check);
    add_seed(*verb, options->how.rows.seed);
    add_repeat(
        *verb, options->how.repeats,
        "Number of seeds, derived from --seed, with which rows are predicted whose plan has something random; the "
        "prediction is their mean, and median and the 5 % and 95 % quantiles are added (default: 1)");
    verb->add_flag("--allow-oom", options->how.rows.allow_oom,
                   "Also simulate rows that do not fit into the devices' memory, and mark them");
    CLI::Option* const list =
        verb->add_flag("--list", options->list, "List the rows with their names and settings, without simulating");
    list->excludes(check);
    add_jobs(*verb, options->jobs);
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    list->excludes(add_report(*verb, options->report, "Also write the comparison as a single HTML page with charts"));
    verb->callback([options, &action] { action = [options] { validate_verb(*options); }; });
}

}  // namespace syncline::cli

#include <memory>

#include "sim/cli/batch_options.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/document/presets.hpp"
#include "sim/measured/measured.hpp"
#include "sim/replay/native.hpp"
#include "sim/validation/show.hpp"
#include "sim/validation/validation.hpp"

namespace syncline::cli {

namespace {

using namespace validation;

struct CalibrateArguments {
    config::MeasuredFiles files;
    std::size_t jobs = 1;
    Format format = Format::table;
    TableOptions tables;
};

void calibrate_verb(const CalibrateArguments& options) {
    const config::MeasuredScenario scenario(options.files, inspect);
    require_fields(scenario);
    require_parameters(scenario);
    Fitted fitted;
    {
        ProgressLine line(scenario.name());
        Simulator simulator(options.jobs, [&](std::size_t simulations) { line.count(simulations); });
        fitted.validation = validation::validate(scenario, simulator, {.leave_one_out = false});
    }
    write_result(fitted, options.format, "", "", options.tables);
}

}  // namespace

void add_calibrate(CLI::App& program, Action& action) {
    CLI::App* verb = program.add_subcommand(
        "calibrate", "Estimate unknown cluster parameters, such as a bandwidth, from measurements");
    const auto options = std::make_shared<CalibrateArguments>();
    verb->add_option("SCENARIO", options->files.scenario, "Scenario file, or the name of one in scenarios/ (m4-tcp)")
        ->required();
    verb->add_option(
            "--measured", options->files.measured,
            "Measurements in place of the scenario's key 'measured': a YAML file with the same structure, or a "
            "CSV file whose header lists the keys, then the result's field")
        ->option_text("FILE")
        ->check([](const std::string& name) { return name.empty() ? "is empty" : ""; });
    verb->add_option("--fit", options->files.fits,
                     "Fit this key within a range to all calibration rows; replaces the parameters in files")
        ->option_text("'KEY=LEAST..MOST UNIT' ...")
        ->allow_extra_args(false);
    verb->add_option("--set", options->files.assignments, "Set a key of every row; later values override earlier ones")
        ->option_text("KEY.PATH=VALUE ...")
        ->allow_extra_args(false);
    add_jobs(*verb, options->jobs);
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    verb->callback([options, &action] {
        action = [options] {
            options->files.scenario = config::find_argument(options->files.scenario, {"scenario"});
            calibrate_verb(*options);
        };
    });
}

}  // namespace syncline::cli

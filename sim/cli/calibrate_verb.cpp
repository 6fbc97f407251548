#include <fmt/format.h>

#include <memory>

#include "sim/base/interrupt.hpp"
#include "sim/cli/batch_options.hpp"
#include "sim/cli/guard.hpp"
#include "sim/cli/measured_files.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/table_options.hpp"
#include "sim/cli/typed_words.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/document/presets.hpp"
#include "sim/measured/fitted_file.hpp"
#include "sim/measured/measured.hpp"
#include "sim/output/written_files.hpp"
#include "sim/replay/native.hpp"
#include "sim/validation/validation.hpp"
#include "sim/validation/validation_text.hpp"

namespace syncline::cli {

namespace {

using namespace validation;

struct CalibrateArguments {
    config::MeasuredFiles files;
    std::size_t jobs = 1;
    Format format = Format::table;
    TableOptions tables;
    std::string out;
};

void calibrate_verb(const CalibrateArguments& options) {
    const config::MeasuredScenario scenario(options.files, inspect);
    require_fields(scenario);
    require_parameters(scenario);
    for (const std::string& choice : scenario.chosen()) say("note: {}\n", choice);
    const std::string part = config::fitted_part(scenario.measurements());
    if (!options.out.empty()) {
        if (part.empty())
            throw UsageError(
                "--out writes a transport or a device, but the parameters are not all keys of one\n"
                "  hint: leave it out, and give the `--set` options that are printed to other commands");
        refuse_same_file(options.out, options.files.scenario);
        require_writable(options.out);
    }
    Fitted fitted;
    std::string best;
    try {
        ProgressLine line(scenario.name(), false, ProgressLine::Elsewhere::lines);
        const HeldInterrupts held;
        Simulator simulator(
            options.jobs, [&](std::size_t simulations) { line.count(simulations); }, &held);
        ValidationOptions how{.leave_one_out = false, .uncalibrated = false};
        how.rows.better = [&](const std::vector<std::optional<double>>& values, double error) {
            constexpr double percent = 100;
            line.begin(fmt::format("{}, error {:.3g} %", scenario.name(), percent * error));
            best = fmt::format("the best values so far, with an error of {:.3g} %, are", percent * error);
            for (const std::string& one : assignments(scenario.measurements(), values)) best += " --set '" + one + "'";
        };
        fitted.validation = validation::validate(scenario, simulator, how);
    } catch (const Stopped&) {
        throw Interrupted(best.empty() ? "nothing has been estimated yet" : best);
    }
    if (!options.out.empty())
        write_file(options.out, config::fitted_file(scenario, fitted.validation.calibration.values(), part));
    write_result(fitted, options.format, "", "", options.tables);
    require_whole(fitted.validation.failures());
}

}  // namespace

void add_calibrate(CLI::App& program, Action& action) {
    CLI::App* verb = add_verb(program, "calibrate", "syncline calibrate m4-tcp",
                              "Estimate unknown cluster parameters, such as a bandwidth, from measurements");
    const auto options = std::make_shared<CalibrateArguments>();
    verb->add_option("SCENARIO", options->files.scenario,
                     "Scenario file, or the name of one in scenarios/published/ or scenarios/ (m4-tcp)")
        ->required();
    verb->add_option(
            "--measured", options->files.measured,
            "Measurements in place of the scenario's key 'measured': a YAML file with the same structure, or a "
            "CSV file whose header lists the keys, then the result's field")
        ->option_text("FILE")
        ->check(not_empty);
    add_repeated(*verb, "--fit", options->files.fits, "'KEY=LEAST..MOST UNIT'",
                 "Fit this key within a range to all calibration rows; replaces the parameters in files");
    add_set(*verb, options->files.assignments, "Set a key of every row; later values override earlier ones");
    verb->add_option("--out", options->out,
                     "Also write the transport or the device with the estimated values, for example for `--set "
                     "platform.transport=fitted.yaml`")
        ->option_text("FILE")
        ->check(not_empty);
    add_jobs(*verb, options->jobs);
    add_format(*verb, options->format);
    add_wide(*verb, options->tables);
    verb->callback([options, &action] {
        action = [options] {
            options->files.scenario = config::find_argument(options->files.scenario, {"measured", "scenario"});
            options->files.choose = true;
            calibrate_verb(*options);
        };
    });
}

}  // namespace syncline::cli

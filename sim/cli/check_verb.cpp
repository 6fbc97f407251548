#include <fmt/format.h>

#include <memory>

#include "sim/base/diagnostics.hpp"
#include "sim/check/check.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/config/scenario.hpp"
#include "sim/document/presets.hpp"
#include "sim/measured/measured.hpp"
#include "sim/output/expected_fields.hpp"
#include "sim/output/written_files.hpp"
#include "sim/replay/native.hpp"
#include "sim/validation/calibration.hpp"

namespace syncline::cli {

namespace {

void check(const std::vector<std::string>& files) {
    std::vector<Diagnostic> errors;
    for (const std::string& argument : files) {
        try {
            const std::string file = config::find_argument(argument, config::file_kinds());
            const std::string kind = config::check_file(file, inspect);
            if (kind == "scenario" || kind == "measured") {
                const config::Scenario scenario = config::load_scenario(file, {}, inspect);
                require_fields(scenario.expectations, scenario.variants.front().collective.has_value());
            }
            if (kind == "measured") validation::require_fields(config::MeasuredScenario({.scenario = file}, inspect));
            write_stdout(
                fmt::format("{}: a correct {}\n", file, kind == "measured" ? "scenario with measurements" : kind));
        } catch (const ConfigError& error) {
            errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

}  // namespace

void add_check(CLI::App& program, Action& action) {
    CLI::App* verb =
        add_verb(program, "check", "syncline check zhang-2021",
                 fmt::format("Check files ({}) and report all errors", fmt::join(config::file_kinds(), ", ")));
    const auto files = std::make_shared<std::vector<std::string>>();
    verb->add_option("FILE", *files, "Files, or names of presets (p100-25g)")->required();
    verb->callback([files, &action] { action = [files] { check(*files); }; });
}

}  // namespace syncline::cli

#include "sim/cli/simulated_exam.hpp"

#include <fmt/format.h>

#include "sim/analysis/experiment.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/cli/progress.hpp"
#include "sim/config/scenario.hpp"
#include "sim/output/expected_fields.hpp"
#include "sim/replay/native.hpp"

namespace syncline::cli {

std::vector<double> simulated(const lesson::Exam& exam, const std::string& path) {
    constexpr std::uint64_t seed = 1;
    const config::Scenario scenario = config::load_scenario(path, exam.settings, inspect, seed, exam.variants);
    const bool exchanges = scenario.variants.front().collective.has_value();
    require_fields(exam.asked, exchanges);
    Report report{scenario.name, {}};
    SweepReport sweeps{scenario.name, {}};
    for (const config::Variant& variant : scenario.variants) {
        ProgressLine progress(variant.name);
        if (exchanges) {
            sweeps.results.push_back(simulate_sweep(variant.cluster, *variant.collective, progress.watch()));
            sweeps.results.back().variant = variant.name;
        } else {
            report.results.push_back(simulate(variant.lowered(), progress.watch()));
            report.results.back().variant = variant.name;
            report.results.back().choice_of = variant.choice_of;
        }
    }
    std::vector<double> found;
    for (const Check& one : exchanges ? check(exam.asked, sweeps) : check(exam.asked, report)) {
        if (!one.found)
            throw ConfigError(
                {{one.expectation.field_at,
                  fmt::format("variant '{}' has no {}", one.expectation.variant, one.expectation.field), ""}});
        found.push_back(*one.found);
    }
    return found;
}

}  // namespace syncline::cli

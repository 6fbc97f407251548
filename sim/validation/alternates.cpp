#include "sim/validation/alternates.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/diagnostics.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/batch/simulation.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/output/memory_text.hpp"

namespace syncline::validation {

namespace {

/// Returns why a row cannot be predicted; nothing if it can.
std::string refusal(const config::MeasuredScenario& scenario, const config::MeasuredRow& row,
                    const RowOptions& options) {
    const std::vector<std::optional<double>> own(scenario.measurements().parameters.size());
    try {
        const RowRun question = question_of(scenario, row, own, options);
        if (options.allow_oom) return "";
        const config::Variant variant = batch::load_run(question.scenario, question.seed);
        if (!variant.is_training()) return "";
        const Memory memory = memory_of(variant.lowered());
        return memory.fits() ? "" : "it " + text::shortage(memory, variant.cluster.device.name);
    } catch (const ConfigError& error) {
        return error.diagnostics().front().message;
    }
}

}  // namespace

std::optional<double> Alternate::predicted(std::size_t row) const {
    return refused[row].empty() ? std::optional(calibration.predicted[row]) : std::nullopt;
}

Alternate alternate(const config::MeasuredScenario& scenario, const config::Alternative& alternative,
                    Simulator& simulator, RowOptions options) {
    options.alternative = &alternative;
    const std::vector<bool> failed = std::exchange(options.refused, {});
    Alternate result{alternative, {}, {}};
    const std::vector<config::MeasuredRow>& rows = scenario.measurements().rows;
    std::string none;  // why no row can be predicted
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const config::MeasuredRow& row = rows[i];
        const bool changed = alternative.applies_to(row.series);
        std::string reason = changed ? refusal(scenario, row, options) : "";
        if (none.empty() && row.calibrates && !reason.empty())
            none = fmt::format("calibration row '{}': {}", row.name, reason);
        if (reason.empty() && !failed.empty() && failed[i]) reason = "its simulation failed";
        options.refused.push_back(!reason.empty());
        result.refused.push_back(std::move(reason));
    }
    if (none.empty()) {
        try {
            result.calibration = calibrate(scenario, simulator, options);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const std::string& failure = result.calibration.failures[i];
                if (failure.empty()) continue;
                result.refused[i] = failure;
                result.failures.push_back(failure);
            }
        } catch (const ReplayError& error) {
            none = error.what();
            result.failures.push_back(none);
        }
    }
    for (std::string& reason : result.refused)
        if (reason.empty()) reason = none;
    return result;
}

}  // namespace syncline::validation

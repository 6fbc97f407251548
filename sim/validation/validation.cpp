#include "sim/validation/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostics.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/batch/simulation.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/output/field_units.hpp"
#include "sim/validation/accuracy.hpp"

namespace syncline::validation {

namespace {

LeftOut leave_out(std::size_t row, const Validation& whole, const config::MeasuredScenario& scenario,
                  Simulator& simulator, const RowOptions& options) {
    Calibration without = calibrate(scenario, simulator, options, row);
    LeftOut left{row, std::move(without.parameters)};
    std::vector<double> changes;
    for (std::size_t i = 0; i < without.predicted.size(); ++i) {
        if (whole.measurements.rows[i].calibrates || std::isnan(without.predicted[i])) continue;
        const double change = std::abs(without.predicted[i] / whole.calibration.predicted[i] - 1);
        if (changes.empty() || change > *left.largest_change) {
            left.largest_change = change;
            left.largest_change_row = i;
        }
        changes.push_back(change);
    }
    if (!changes.empty()) left.median_change = median(std::move(changes));
    return left;
}

/// Repeats the predictions of rows in which something is random, and marks rows that do not fit into memory.
void look_at_plans(Validation& result, const config::MeasuredScenario& scenario, Simulator& simulator,
                   const ValidationOptions& options) {
    if (options.repeats == 1 && !options.rows.allow_oom) return;
    const std::vector<config::MeasuredRow>& rows = scenario.measurements().rows;
    const std::vector<std::optional<double>> values = result.calibration.values();
    result.spreads.resize(options.repeats > 1 ? rows.size() : 0);
    std::vector<std::size_t> random;
    std::vector<RowRun> questions;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (result.failed(row)) {
            if (options.rows.allow_oom) result.short_of_memory.push_back(false);
            continue;
        }
        RowRun question = question_of(scenario, rows[row], values, options.rows);
        const config::Variant variant = batch::load_run(question.scenario, question.seed);
        const bool training = variant.is_training();
        if (options.rows.allow_oom) result.short_of_memory.push_back(training && !memory_of(variant.lowered()).fits());
        if (options.repeats == 1 || !training || !variant.plan.draws()) continue;
        random.push_back(row);
        for (std::size_t i = 0; i < options.repeats; ++i) {
            question.seed = repeated_seed(options.rows.seed, i);
            questions.push_back(question);
        }
    }
    const std::vector<Answer> answers = simulator.all_answers(questions);
    for (std::size_t i = 0; i < random.size(); ++i) {
        std::vector<double> by_seed;
        std::string& failure = result.calibration.failures[random[i]];
        for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
            const Answer& answer = answers[i * options.repeats + repeat];
            if (answer.value) by_seed.push_back(*answer.value);
            if (failure.empty()) failure = answer.failure;
        }
        if (!failure.empty()) continue;
        result.spreads[random[i]] = spread_of(std::move(by_seed));
        result.calibration.predicted[random[i]] = result.spreads[random[i]]->mean;
    }
}

}  // namespace

std::vector<std::string> Validation::failures() const {
    std::vector<std::string> all;
    for (const std::string& failure : calibration.failures)
        if (!failure.empty()) all.push_back(failure);
    all.insert(all.end(), incomplete.begin(), incomplete.end());
    return all;
}

double Validation::error(std::size_t row) const {
    return calibration.predicted[row] / measurements.rows[row].value - 1;
}
double Validation::accuracy(std::size_t row) const {
    return std::max(0.0, 1 - std::abs(error(row)));
}
std::optional<double> Validation::uncalibrated_error(std::size_t row) const {
    if (uncalibrated.empty() || std::isnan(uncalibrated[row])) return std::nullopt;
    return uncalibrated[row] / measurements.rows[row].value - 1;
}
std::optional<double> Validation::slower(std::size_t row) const {
    const config::MeasuredRow& measured = measurements.rows[row];
    if (measured.calibrates || failed(row)) return std::nullopt;
    const double ratio = calibration.predicted[row] / measured.value;
    switch (unit_of(measurements.series[measured.series].field)) {
        case Unit::seconds:
            return 1 - ratio;
        case Unit::samples_per_s:
        case Unit::tokens_per_s:
        case Unit::bandwidth:
        case Unit::tflops:
            return 1 - 1 / ratio;
        default:
            return std::nullopt;
    }
}
bool Validation::doubtful(std::size_t row) const {
    return !measurements.series[measurements.rows[row].series].doubt.empty();
}
bool Validation::has_rows(std::size_t series) const {
    return std::any_of(measurements.rows.begin(), measurements.rows.end(),
                       [&](const config::MeasuredRow& row) { return row.series == series; });
}
bool Validation::hardly_determined(const Solution& solution) const {
    constexpr double half_percent = 50;
    return solution.percent_per_percent && *solution.percent_per_percent * noise_percent() >= half_percent;
}

Validation validate(const config::MeasuredScenario& scenario, Simulator& simulator, const ValidationOptions& options) {
    Validation result{scenario.name(), scenario.measurements(), calibrate(scenario, simulator, options.rows), {}};
    // What has failed would fail again, perhaps after all of the memory has been used once more.
    RowOptions rows = options.rows;
    for (const std::string& failure : result.calibration.failures) rows.refused.push_back(!failure.empty());
    for (std::size_t row = 0; options.leave_one_out && row < result.measurements.rows.size(); ++row) {
        if (!result.measurements.rows[row].calibrates) continue;
        try {
            result.leave_one_out.push_back(leave_out(row, result, scenario, simulator, rows));
        } catch (const ReplayError& error) {
            result.incomplete.push_back(
                fmt::format("without row '{}': {}", result.measurements.rows[row].name, error.what()));
        }
    }
    if (const std::size_t parameters = result.measurements.parameters.size(); options.uncalibrated && parameters > 0) {
        Predictions own = predict(scenario, simulator, rows, std::vector<std::optional<double>>(parameters));
        result.uncalibrated = std::move(own.predicted);
        for (std::size_t row = 0; row < own.failures.size(); ++row)
            if (!own.failures[row].empty())
                result.incomplete.push_back(
                    fmt::format("row '{}', uncalibrated: {}", result.measurements.rows[row].name, own.failures[row]));
    }
    look_at_plans(result, scenario, simulator, options);
    const auto alternates = [&](const std::vector<config::Alternative>& all) {
        std::vector<Alternate> found;
        for (const config::Alternative& one : all) {
            found.push_back(alternate(scenario, one, simulator, rows));
            for (const std::string& failure : found.back().failures) result.incomplete.push_back(failure);
        }
        return found;
    };
    if (options.assumptions) result.assumptions = alternates(result.measurements.assumptions);
    result.mechanisms = alternates(options.mechanisms);
    return result;
}

void require_few_parameters(const config::MeasuredScenario& scenario) {
    constexpr std::size_t first_rows = 2;
    const config::Measurements& all = scenario.measurements();
    std::vector<Diagnostic> errors;
    std::vector<std::size_t> before(all.series.size());
    std::size_t calibrating = 0;
    for (const config::MeasuredRow& row : all.rows) {
        if (row.calibrates) ++calibrating;
        if (before[row.series]++ >= first_rows && row.calibrates)
            errors.push_back({row.at,
                              fmt::format("calibration row '{}' is not among the first two of its series", row.name),
                              "calibrate with one device and the smallest number of several; predict larger ones"});
    }
    for (std::size_t i = 0; i < all.parameters.size(); ++i) {
        const config::MeasuredParameter& parameter = all.parameters[i];
        const auto together = static_cast<std::size_t>(
            std::count_if(all.parameters.begin(), all.parameters.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                          [&](const config::MeasuredParameter& other) { return other.rows == parameter.rows; }));
        if (together > parameter.rows.size() || i >= calibrating)
            errors.push_back(
                {parameter.at,
                 fmt::format("'{}' is one parameter more than its calibration rows determine", parameter.key),
                 "each calibration row determines at most one parameter"});
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

}  // namespace syncline::validation

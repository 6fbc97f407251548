#include "sim/validation/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/output/expected_fields.hpp"

namespace syncline::validation {

namespace {

using Values = std::vector<std::optional<double>>;

class Calibrating {
public:
    Calibrating(const config::MeasuredScenario& scenario, Simulator& simulator, const RowOptions& options,
                std::optional<std::size_t> without)
        : scenario_(scenario),
          measurements_(scenario.measurements()),
          simulator_(simulator),
          options_(options),
          without_(without) {}

    Calibration run() {
        values_.resize(measurements_.parameters.size());
        calibration_.parameters.resize(values_.size());
        for (const std::vector<std::size_t>& group : groups()) find(group);
        static_cast<Predictions&>(calibration_) = predict(scenario_, simulator_, options_, values_);
        return std::move(calibration_);
    }

private:
    /// Returns the parameters, grouped by equal rows.
    std::vector<std::vector<std::size_t>> groups() const {
        std::vector<std::vector<std::size_t>> groups;
        const auto& all = measurements_.parameters;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<std::size_t>& group) {
                return all[group.front()].rows == all[i].rows;
            });
            if (same == groups.end())
                groups.push_back({i});
            else
                same->push_back(i);
        }
        return groups;
    }

    RowRun question(std::size_t row, const Values& values) const {
        return question_of(scenario_, measurements_.rows[row], values, options_);
    }

    void find(const std::vector<std::size_t>& group) {
        std::vector<std::size_t> rows = measurements_.parameters[group.front()].rows;
        if (without_) std::erase(rows, *without_);
        std::vector<Unknown> unknowns;
        for (const std::size_t parameter : group)
            unknowns.push_back({measurements_.parameters[parameter].least, measurements_.parameters[parameter].most});
        double least = std::numeric_limits<double>::infinity();
        Fit fit = least_squares(unknowns, rows.size(), [&](const std::vector<Trial>& trials) {
            std::vector<RowRun> questions;
            for (const Trial& trial : trials) {
                Values values = values_;
                for (std::size_t i = 0; i < group.size(); ++i) values[group[i]] = trial[i];
                for (const std::size_t row : rows) questions.push_back(question(row, values));
            }
            std::vector<std::vector<double>> all = residuals(rows, simulator_.answers(questions));
            for (std::size_t trial = 0; options_.better && trial < trials.size(); ++trial) {
                double sum = 0;
                for (const double r : all[trial]) sum += r * r;
                const double error = std::sqrt(sum / static_cast<double>(rows.size()));
                if (error >= least) continue;
                least = error;
                Values values = values_;
                for (std::size_t i = 0; i < group.size(); ++i) values[group[i]] = trials[trial][i];
                options_.better(values, error);
            }
            return all;
        });
        calibration_.converged = calibration_.converged && fit.converged;
        for (std::size_t i = 0; i < group.size(); ++i) {
            Solution& solution = calibration_.parameters[group[i]];
            solution = std::move(fit.unknowns[i]);
            for (std::size_t& other : solution.others) other = group[other];
            values_[group[i]] = solution.value;
        }
    }

    /// Returns the residuals of one trial after another, each with all rows.
    std::vector<std::vector<double>> residuals(const std::vector<std::size_t>& rows,
                                               const std::vector<double>& predicted) const {
        std::vector<std::vector<double>> all;
        for (std::size_t i = 0; i < predicted.size(); ++i) {
            const std::size_t place = i % rows.size();
            if (place == 0) all.emplace_back();
            all.back().push_back(std::log(predicted[i] / measurements_.rows[rows[place]].value));
        }
        return all;
    }

    const config::MeasuredScenario& scenario_;
    const config::Measurements& measurements_;
    Simulator& simulator_;
    const RowOptions& options_;
    std::optional<std::size_t> without_;
    Values values_;
    Calibration calibration_;
};

}  // namespace

Values Calibration::values() const {
    Values values;
    for (const Solution& parameter : parameters) values.push_back(parameter.value);
    return values;
}

Predictions predict(const config::MeasuredScenario& scenario, Simulator& simulator, const RowOptions& options,
                    const std::vector<std::optional<double>>& values) {
    const std::vector<config::MeasuredRow>& all = scenario.measurements().rows;
    std::vector<RowRun> questions;
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < all.size(); ++row) {
        if (!options.refused.empty() && options.refused[row]) continue;
        questions.push_back(question_of(scenario, all[row], values, options));
        rows.push_back(row);
    }
    const std::vector<Answer> answers = simulator.all_answers(questions);
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    Predictions result{std::vector<double>(all.size(), none), std::vector<std::string>(all.size()),
                       std::vector<Cause>(all.size())};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        result.predicted[rows[i]] = answers[i].value.value_or(none);
        result.failures[rows[i]] = answers[i].failure;
        result.causes[rows[i]] = answers[i].cause;
    }
    return result;
}

Calibration calibrate(const config::MeasuredScenario& scenario, Simulator& simulator, const RowOptions& options,
                      std::optional<std::size_t> without) {
    return Calibrating(scenario, simulator, options, without).run();
}

RowRun question_of(const config::MeasuredScenario& scenario, const config::MeasuredRow& row,
                   const std::vector<std::optional<double>>& values, const RowOptions& options) {
    return {scenario.resolved(row, values, options.alternative).text(),
            scenario.measurements().series[row.series].field,
            fmt::format("{}, row '{}'{}", scenario.name(), row.name,
                        options.alternative ? fmt::format(" with '{}'", options.alternative->name) : ""),
            options.seed, options.allow_oom};
}

void require_fields(const config::MeasuredScenario& scenario) {
    const config::Measurements& all = scenario.measurements();
    std::vector<Diagnostic> errors;
    const auto refuse = [&](const Diagnostic& error) {  // once, even if several series share the place
        if (std::none_of(errors.begin(), errors.end(),
                         [&](const Diagnostic& other) { return same_place(other.where, error.where); }))
            errors.push_back(error);
    };
    for (const config::MeasuredRow& row : all.rows) {
        const config::MeasuredSeries& series = all.series[row.series];
        Expectation wanted;
        wanted.field = series.field;
        wanted.field_at = series.field_at;
        try {
            require_result_fields({wanted}, row.exchange_alone);
            if (series.unit == 0)
                refuse({series.unit_at, fmt::format("'{}' has no unit '{}'", series.field, series.unit_name),
                        "write for example ms for a field in _s, GBps for one in _Bps; without the key, values are in "
                        "the field's own unit"});
        } catch (const ConfigError& error) {
            for (const Diagnostic& one : error.diagnostics()) refuse(one);
        }
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

void require_parameters(const config::MeasuredScenario& scenario) {
    const config::Measurements& all = scenario.measurements();
    if (all.parameters.empty())
        throw ConfigError(
            {{all.rows.front().at, "there are no parameters to estimate",
              "write `calibrates: true` in some rows, and list in 'parameters' what to estimate from them"}});
}

}  // namespace syncline::validation

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/spread.hpp"
#include "sim/measured/measured.hpp"
#include "sim/validation/alternates.hpp"
#include "sim/validation/calibration.hpp"
#include "sim/validation/simulations.hpp"

/// Comparison of predictions with measurements. A row's error is predicted / measured - 1, its accuracy 1 - |error|,
/// not below 0. Calibration rows are never counted. For the leave-one-out sensitivity one calibration row at a time is
/// left out: its parameters are estimated again without it, or keep the scenario's own values if too few rows remain,
/// and later parameters after them. A parameter is poorly determined if an error of the rows by the stated noise, or
/// else by 1 %, changes it by half of its value or more (a chosen limit). An uncalibrated prediction has the values
/// that the scenario and its presets have without any measurement of the series.
namespace syncline::validation {

struct LeftOut {
    std::size_t row = 0;
    std::vector<Solution> parameters;
    /// |with / without - 1| of the predicted rows; empty if there are none.
    std::optional<double> median_change = {}, largest_change = {};
    std::size_t largest_change_row = 0;
};

struct ValidationOptions {
    bool leave_one_out = true;
    bool uncalibrated = true;                          ///< also predict with the scenario's own values of parameters
    bool assumptions = false;                          ///< also predict with each assumption of the scenario
    std::vector<config::Alternative> mechanisms = {};  ///< also predict with each of them switched off
    RowOptions rows = {};
    /// Number of seeds, derived from `rows.seed`, with which rows are predicted in whose plan something is random.
    /// Their prediction is then the mean. Parameters and the leave-one-out sensitivity are found with the first seed
    /// alone.
    std::size_t repeats = 1;
};

struct Validation {
    std::string name;
    config::Measurements measurements;
    Calibration calibration;
    std::vector<LeftOut> leave_one_out;
    /// By row, not a number if it failed; empty if there are no parameters, or if they are not asked for.
    std::vector<double> uncalibrated = {};
    std::vector<std::optional<Spread>> spreads = {};  ///< by row, with several seeds; empty where nothing is random
    std::vector<bool> short_of_memory = {};           ///< by row; empty unless such rows are allowed
    std::vector<Alternate> assumptions = {};          ///< with each of them in place of what is written
    std::vector<Alternate> mechanisms = {};           ///< with each of them switched off

    /// Simulations that failed in estimates without a row or of an alternative, whose part of the result is missing.
    std::vector<std::string> incomplete = {};

    bool failed(std::size_t row) const { return !calibration.failures.empty() && !calibration.failures[row].empty(); }
    /// Returns the reasons of all failures: those of rows, then `incomplete`.
    std::vector<std::string> failures() const;
    /// Error and accuracy of a row that has not failed.
    double error(std::size_t row) const;
    double accuracy(std::size_t row) const;
    /// Error of a row without calibration; nothing if it is not known.
    std::optional<double> uncalibrated_error(std::size_t row) const;
    /// By how much a predicted row is shorter than the measurement, for rows of a time or a rate: above zero if what
    /// was measured is slower. Nothing for others, and for rows that calibrate or have failed.
    std::optional<double> slower(std::size_t row) const;
    bool doubtful(std::size_t row) const;
    bool has_rows(std::size_t series) const;
    const Spread* spread(std::size_t row) const { return spreads.empty() || !spreads[row] ? nullptr : &*spreads[row]; }
    bool lacks_memory(std::size_t row) const { return !short_of_memory.empty() && short_of_memory[row]; }
    /// Returns the assumed error of the rows in percent: the noise that their source states, else 1.
    double noise_percent() const { return measurements.noise > 0 ? 100 * measurements.noise : 1; }
    bool hardly_determined(const Solution& solution) const;
    std::string parameter_key(std::size_t parameter) const { return measurements.parameters[parameter].key; }
};

/// Compares predictions with measurements. Throws ConfigError, and ReplayError if a simulation of an estimate of the
/// parameters fails. Rows whose simulations fail otherwise are not predicted, and the others are.
Validation validate(const config::MeasuredScenario& scenario, Simulator& simulator,
                    const ValidationOptions& options = {});

/// Checks the rules for measurements that are published to show the simulator's accuracy: only the first two rows of
/// each series may be calibration rows, and there are no more parameters than calibration rows. Throws ConfigError.
void require_few_parameters(const config::MeasuredScenario& scenario);

}  // namespace syncline::validation

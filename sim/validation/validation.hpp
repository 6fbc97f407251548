#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/measured.hpp"
#include "sim/validation/calibration.hpp"
#include "sim/validation/simulator.hpp"

/// Predictions held against what was measured.
///
/// A row's error is predicted / measured - 1, its accuracy 1 - |error|, not below 0. Rows on which parameters were
/// found are shown and never counted. How far predictions hang on a calibrating row is seen by leaving it out: its
/// parameters are found again without it, or keep the scenario's own values where too few rows are left, later ones
/// after them. A parameter is hardly determined where rows that are off by the stated noise, else by 1 %, move it by
/// half of its value or more (chosen).
namespace syncline::validation {

struct LeftOut {
    std::size_t row = 0;
    std::vector<Solution> parameters;
    /// Of the predicted rows, |with / without - 1|; nothing where no row is predicted.
    std::optional<double> median_change = {}, largest_change = {};
    std::size_t largest_change_row = 0;
};

struct Validation {
    std::string name;
    config::Measurements measurements;
    Calibration calibration;
    std::vector<LeftOut> leave_one_out;

    double error(std::size_t row) const;
    double accuracy(std::size_t row) const;
    bool doubtful(std::size_t row) const;
    /// By how many per cent rows may be off: what their source states, else 1.
    double noise_percent() const { return measurements.noise > 0 ? 100 * measurements.noise : 1; }
    bool hardly_determined(const Solution& solution) const;
    std::string parameter_key(std::size_t parameter) const { return measurements.parameters[parameter].key; }
};

/// Throws ConfigError, ReplayError.
Validation validate(const config::MeasuredScenario& scenario, Simulator& simulator, bool leave_one_out);

/// What holds of measurements that are published to show what the simulator can do: of each series the first row may
/// calibrate, and the second, and there are no more parameters than rows that calibrate. Throws ConfigError.
void require_few_parameters(const config::MeasuredScenario& scenario);

/// Over predicted rows. Nothing where there are none.
struct Figures {
    std::size_t rows = 0;
    std::optional<double> median_accuracy = {}, worst_accuracy = {}, share_above_085 = {};
};

/// Of all predicted rows, or of those that nobody doubts.
Figures figures(const std::vector<Validation>& points, bool with_doubtful);

}  // namespace syncline::validation

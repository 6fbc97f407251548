#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/measured/measured.hpp"
#include "sim/validation/least_squares.hpp"
#include "sim/validation/simulations.hpp"

/// Estimates unknown parameters of a cluster from measurements on it. Parameters with the same rows are estimated
/// together (least_squares.hpp), such groups one after the other, as written, each with the values of the previous
/// ones.
namespace syncline::validation {

/// How rows are simulated.
struct RowOptions {
    std::uint64_t seed = 1;
    bool allow_oom = false;                            ///< also rows whose plan does not fit into the devices' memory
    const config::Alternative* alternative = nullptr;  ///< a change of the rows; none: as they are written
    /// Called with each estimate that is better than those before: the values of the parameters so far, and the root
    /// mean square of ln(predicted / measured) of the rows of those that are estimated together.
    std::function<void(const std::vector<std::optional<double>>& values, double error)> better = {};
    std::vector<bool> refused = {};  ///< by row: not predicted, and its prediction is not a number; empty: none
};

/// The rows of a scenario, simulated.
struct Predictions {
    std::vector<double> predicted;  ///< value of each row, in the field's unit
    /// By row: the reason why its simulation failed, and its prediction is not a number; an empty text, or no
    /// texts at all: it did not.
    std::vector<std::string> failures;
    std::vector<Cause> causes = {};  ///< by row
};

/// Predicts all rows, except those that `options` refuses, with these values of the parameters. Where there is none the
/// scenario's own stays.
Predictions predict(const config::MeasuredScenario& scenario, Simulator& simulator, const RowOptions& options,
                    const std::vector<std::optional<double>>& values);

struct Calibration : Predictions {
    std::vector<Solution> parameters;  ///< in the order of config::Measurements
    bool converged = true;             ///< false: a fit was stopped, and has the best value so far

    std::vector<std::optional<double>> values() const;
};

/// Estimates the parameters, and predicts all rows with them. `without` is a calibration row to leave out. Throws
/// ConfigError, and ReplayError if a simulation of an estimate fails; of predictions, those of other rows stay.
Calibration calibrate(const config::MeasuredScenario& scenario, Simulator& simulator, const RowOptions& options = {},
                      std::optional<std::size_t> without = {});

/// Returns the question for the value of a row of `scenario` with these values of the parameters.
RowRun question_of(const config::MeasuredScenario& scenario, const config::MeasuredRow& row,
                   const std::vector<std::optional<double>>& values, const RowOptions& options);

/// Throws ConfigError, with the places, if a row's result lacks a field or a field cannot have its unit.
void require_fields(const config::MeasuredScenario& scenario);
/// Throws ConfigError if there is no parameter to estimate.
void require_parameters(const config::MeasuredScenario& scenario);

}  // namespace syncline::validation

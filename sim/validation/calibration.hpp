#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/measured/measured.hpp"
#include "sim/validation/least_squares.hpp"
#include "sim/validation/simulator.hpp"

/// Estimates unknown parameters of a cluster from measurements on it.
///
/// Parameters with the same rows are estimated together (least_squares.hpp). The groups are estimated one after the
/// other, in the order in which they are written, each with the values of the previous ones. Predicted rows take no
/// part.
namespace syncline::validation {

/// How rows are simulated.
struct RowOptions {
    std::uint64_t seed = 1;
    bool allow_oom = false;                            ///< also rows whose plan does not fit into the devices' memory
    const config::Alternative* alternative = nullptr;  ///< a change of the rows; none: as they are written
    std::vector<bool> refused = {};  ///< by row: not predicted, and its prediction is not a number; empty: none
};

struct Calibration {
    std::vector<Solution> parameters;  ///< in the order of config::Measurements
    std::vector<double> predicted;     ///< value of each row with the estimated parameters, in the field's unit
    bool converged = true;             ///< false: a fit was stopped, and has the best value so far

    std::vector<std::optional<double>> values() const;
};

/// Estimates the parameters. `without` is a calibration row to leave out. Throws ConfigError, ReplayError.
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

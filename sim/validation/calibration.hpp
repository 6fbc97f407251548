#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/measured.hpp"
#include "sim/validation/least_squares.hpp"
#include "sim/validation/simulator.hpp"

/// What is not known of a cluster, found from measurements on it.
///
/// Parameters with the same rows are found together (least_squares.hpp); one such group after the other, in the order
/// in which they are written, with those found before in place. No row that is predicted takes part.
namespace syncline::validation {

struct Calibration {
    std::vector<Solution> parameters;  ///< as config::Measurements has them
    std::vector<double> predicted;     ///< of each row, with the parameters in place
    bool converged = true;             ///< else a fit was stopped, and has the best so far

    std::vector<std::optional<double>> values() const;
};

/// `without`: this calibrating row is left out. Throws ConfigError, ReplayError.
Calibration calibrate(const config::MeasuredScenario& scenario, Simulator& simulator,
                      std::optional<std::size_t> without = {});

/// Fields that a row's result does not have are errors, so are units that they do not have: ConfigError with their
/// places.
void require_fields(const config::MeasuredScenario& scenario);
/// So is it that nothing is to be found.
void require_parameters(const config::MeasuredScenario& scenario);

}  // namespace syncline::validation

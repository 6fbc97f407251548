#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/measured/measured.hpp"
#include "sim/validation/calibration.hpp"
#include "sim/validation/simulations.hpp"

namespace syncline::validation {

/// Predictions under an alternative: an assumption on what the source leaves open, or a mechanism that is off. The
/// parameters are estimated again, from the same rows. An alternative is refused for a row if the scenario is then
/// invalid or does not fit into memory; if it is a calibration row, for all rows. Left out: several seeds, combinations
/// of alternatives.
struct Alternate {
    config::Alternative of;
    Calibration calibration;                 ///< if it is refused for all rows: empty
    std::vector<std::string> refused;        ///< by row: the reason; empty: it is predicted
    std::vector<std::string> failures = {};  ///< simulations that failed; their rows are refused, or all rows

    /// Returns the prediction of a row, unless it is refused.
    std::optional<double> predicted(std::size_t row) const;
};

/// Predicts the rows under an alternative, except those that `options` refuses: they have failed without it.
Alternate alternate(const config::MeasuredScenario& scenario, const config::Alternative& alternative,
                    Simulator& simulator, RowOptions options);

}  // namespace syncline::validation

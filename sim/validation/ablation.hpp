#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/validation/accuracy.hpp"

namespace syncline::validation {

/// The predicted rows of one scenario, or of several, under an alternative.
struct UnderAlternate {
    AccuracyFigures figures;  ///< of the rows for which it is not refused
    std::size_t refused = 0;  ///< predicted rows for which it is
    std::string reason;       ///< of the first row, calibration rows included, for which it is
    bool applies = false;     ///< some prediction differs from that of the scenario as it is
    /// Median error minus that of the same rows as they are: above zero if the alternative makes them worse.
    std::optional<double> change = {};
};

/// Returns what mechanism `number`, switched off, does to the predictions of `points`.
UnderAlternate without(const std::vector<Validation>& points, std::size_t number);
/// Returns what assumption `number` does to the predictions of `one`.
UnderAlternate assuming(const Validation& one, std::size_t number);

/// The lowest and the highest prediction of a row, among that of the scenario as it is and those of its assumptions.
struct Between {
    double lowest = 0, highest = 0;
};
Between between(const Validation& one, std::size_t row);

}  // namespace syncline::validation

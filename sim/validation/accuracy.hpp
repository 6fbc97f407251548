#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/validation/validation.hpp"

namespace syncline::validation {

/// Figures over predicted rows; empty if there are none.
struct AccuracyFigures {
    std::size_t rows = 0;
    std::optional<double> median_accuracy = {}, worst_accuracy = {}, share_above_085 = {};
    std::optional<double> median_error = {}, mean_error = {};  ///< of the errors' absolute values
    std::optional<double> bias = {};                           ///< mean error with its sign
    std::string worst_row;
    std::size_t with_noise = 0;    ///< rows whose source states a spread
    std::size_t within_noise = 0;  ///< those of them whose error is below it
};

/// Returns the figures of all predicted rows that have not failed, or of the reliable ones only.
AccuracyFigures figures(const std::vector<Validation>& points, bool with_doubtful);
/// Returns the same without calibration. Scenarios without parameters have their only predictions; there are no figures
/// if that holds for all, or if a scenario was not predicted so.
AccuracyFigures uncalibrated_figures(const std::vector<Validation>& points);

/// Returns the error of a row; nothing if it is not to be counted.
using ErrorOf = std::function<std::optional<double>(const Validation& point, std::size_t row)>;
/// Returns the figures of the predicted rows with these errors.
AccuracyFigures figures(const std::vector<Validation>& points, const ErrorOf& error_of);

double median(std::vector<double> values);

}  // namespace syncline::validation

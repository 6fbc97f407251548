#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/measured/measured.hpp"

/// Validation of some rows only, to save time.
namespace syncline::validation {

struct RowSelection {
    std::vector<std::string> series;    ///< names of scenarios or of their series; empty: all
    std::optional<std::size_t> sample;  ///< number of predicted rows to draw
    std::uint64_t seed = 1;
};

/// The rows that were drawn.
struct Sample {
    std::size_t rows = 0, of = 0;  ///< predicted rows
    std::uint64_t seed = 1;
};

/// Returns the names by which series can be selected.
std::vector<std::string> series_names(const std::vector<config::MeasuredScenario>& scenarios);

/// Leaves out the rows that are not selected, except calibration rows that the others need, and scenarios without rows.
/// A sample is drawn without replacement from the predicted rows of the selected series. Each scenario contributes in
/// proportion to its rows; what is left after rounding down goes to the largest fractions (Hamilton's method). A row's
/// draw depends on the seed and on its number among all predicted rows.
std::optional<Sample> select(std::vector<config::MeasuredScenario>& scenarios, const RowSelection& selection);

/// Divides `total` in proportion to `sizes`, whose sum it does not exceed, by the largest remainders; equal ones in
/// order.
std::vector<std::size_t> shares(const std::vector<std::size_t>& sizes, std::size_t total);

}  // namespace syncline::validation

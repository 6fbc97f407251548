#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/validation/validation.hpp"

/// Predictions of the order of several layouts, and of the growth with the number of ranks, against measurements.
namespace syncline::validation {

/// Layouts of the same training, of which one would choose the fastest: rows with the same `sweep`.
struct Sweep {
    std::string name;
    std::size_t rows = 0;
    /// Spearman's rank correlation of predicted and measured values; equal values share their mean rank. 1: same order.
    double rank_correlation = 0;
    /// Loss by taking the row that is predicted to be the best: its measured value over the best one, - 1; for
    /// fields of which more is better, the inverse ratio.
    double regret = 0;
    /// The rank correlation that a second measurement would have on average, if every value were multiplied by a
    /// lognormal factor (pace.hpp) with the source's spread: predictions cannot be expected to be above it. Nothing if
    /// the source states no spread.
    std::optional<double> repeated_correlation = {};
    /// Pairs of rows whose measured values differ by more than the spread, and those of them that are predicted in the
    /// measured order.
    std::size_t pairs = 0, pairs_in_order = 0;
};

/// Rows of a series that differ in their number of ranks alone.
struct Scaling {
    std::string name;
    std::size_t rows = 0;
    double ratio_error = 0;  ///< of the value with the most ranks over that with the fewest: predicted / measured - 1
};

/// Returns the sweeps of four rows or more, calibration rows included.
std::vector<Sweep> sweeps(const Validation& one);
/// Returns the series of two rows or more over `training.ranks` alone, calibration rows included.
std::vector<Scaling> scalings(const Validation& one);

/// Spearman's rank correlation: Pearson's, of the ranks; 0 if all values of one list are equal.
double rank_correlation(const std::vector<double>& one, const std::vector<double>& other);

}  // namespace syncline::validation

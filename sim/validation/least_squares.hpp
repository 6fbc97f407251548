#pragma once

#include <functional>
#include <optional>
#include <vector>

/// Estimates numbers above zero, each within bounds, with which a model comes closest to measurements: minimises Σ r²,
/// r = ln(predicted / measured), over the logarithms of the numbers. What can be met exactly is found first, by
/// Newton's method, or for one number with one measurement as the root of r, if r has different signs at the bounds
/// (solvers.hpp). Else a coarse grid gives the start for BOBYQA, which needs no derivatives (Powell, DAMTP 2009/NA06;
/// in NLopt). With the Jacobian J of r by the logarithms (central differences of 1 %), independent errors of 1 % in the
/// measurements change number j by sqrt((JᵀJ)⁻¹_jj) %. Left out: minima other than the one nearest to the best point of
/// the grid, and roots other than one.
namespace syncline::validation {

struct Unknown {
    double least = 0, most = 0;
};

/// Values by unknown; an empty one means the model's own value.
using Trial = std::vector<std::optional<double>>;
/// Returns r for each of several trials, which may be computed concurrently.
using Residuals = std::function<std::vector<std::vector<double>>(const std::vector<Trial>&)>;

enum class Ending {
    found,
    at_least,        ///< the measurements suggest a value below the minimum
    at_most,         ///< the measurements suggest a value above the maximum
    plateau,         ///< values around it fit equally well
    no_effect,       ///< the measurements do not depend on it: the model's own value stays
    not_told_apart,  ///< the measurements cannot distinguish it from other unknowns, which are found with its own value
    too_few          ///< fewer measurements than unknowns: the model's own values stay
};

struct Solution {
    std::optional<double> value = {};
    Ending ending = Ending::too_few;
    std::vector<std::size_t> others = {};                ///< the unknowns of not_told_apart
    std::optional<double> percent_per_percent = {};      ///< only for found values
    std::optional<double> relative_standard_error = {};  ///< from the remaining r; if there are more r than unknowns
};

struct Fit {
    std::vector<Solution> unknowns;
    bool converged = true;  ///< false: it was stopped, and has the best values so far
};

/// Finds the values. `measurements` is the number of r of a trial.
Fit least_squares(const std::vector<Unknown>& unknowns, std::size_t measurements, const Residuals& residuals);

}  // namespace syncline::validation

#pragma once

#include <functional>
#include <optional>
#include <vector>

/// Numbers above zero, each within bounds, with which a model comes closest to what was measured.
///
/// Least is Σ r², where r = ln(predicted / measured) of each measurement; what is varied are the numbers' logarithms.
/// A coarse grid gives the start, from which BOBYQA goes on, which needs no derivatives (Powell, DAMTP 2009/NA06; in
/// NLopt): simulations have none. How well the measurements determine a number is read off the Jacobian J of r by the
/// logarithms, central differences of 1 %: measurements that are off by 1 %, each by itself, move number j by
/// sqrt((JᵀJ)⁻¹_jj) %. Left out: other minima than the one nearest to the best point of the grid.
namespace syncline::validation {

struct Unknown {
    double least = 0, most = 0;
};

/// By unknown; nothing: what the model has of its own.
using Trial = std::vector<std::optional<double>>;
/// r for each of several trials, which may be computed side by side.
using Residuals = std::function<std::vector<std::vector<double>>(const std::vector<Trial>&)>;

enum class Ending {
    found,
    at_least,        ///< the measurements ask for less than is allowed
    at_most,         ///< or for more
    plateau,         ///< the value serves, and so do others around it
    no_effect,       ///< the measurements do not depend on it: the model's own value stays
    not_told_apart,  ///< from others of the unknowns: the model's own value stays, and they are found with it
    too_few          ///< measurements for so many unknowns: the model's own values stay
};

struct Solution {
    std::optional<double> value = {};
    Ending ending = Ending::too_few;
    std::vector<std::size_t> others = {};                ///< of not_told_apart
    std::optional<double> percent_per_percent = {};      ///< only of what is found
    std::optional<double> relative_standard_error = {};  ///< by what r is left; where there are more r than unknowns
};

struct Fit {
    std::vector<Solution> unknowns;
    bool converged = true;  ///< else it was stopped, and is the best so far
};

/// `measurements`: how many r a trial has.
Fit least_squares(const std::vector<Unknown>& unknowns, std::size_t measurements, const Residuals& residuals);

}  // namespace syncline::validation

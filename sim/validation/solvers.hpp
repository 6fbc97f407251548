#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace syncline::validation {

/// Returns a function's values at several numbers, which may be computed concurrently.
using Function = std::function<std::vector<double>(const std::vector<double>&)>;

/// Finds where `function` is zero between two numbers, if its values at these have different signs, in a few
/// evaluations (algorithm 748 of G. Alefeld, F. Potra and Y. Shi, ACM TOMS 21, 1995; in Boost.Math). Throws what
/// `function` throws.
std::optional<double> root(double least, double most, const Function& function);

using Point = std::vector<double>;

struct Box {
    Point least, most;
};

/// Returns the values of several functions at each of several points, which may be computed concurrently.
using Functions = std::function<std::vector<std::vector<double>>(const std::vector<Point>&)>;

/// Finds a point of the box at which all functions are zero, in a few evaluations: Newton's method from the centre,
/// with the derivatives of Broyden's method (Math. Comp. 19, 1965) after the first step. Of more functions than
/// numbers, and of numbers without effect, steps are least squares. Returns nothing if it does not come close. Throws
/// what `functions` throws.
std::optional<Point> zero(const Box& box, const Functions& functions);

/// Returns a function's values at several points, which may be computed concurrently.
using Objective = std::function<std::vector<double>(const std::vector<Point>&)>;

struct Minimum {
    Point at;
    bool converged = false;
};

/// Finds the minimum in the box of `objective`, which is not negative: the best point of a grid, then BOBYQA. Throws
/// what `objective` throws.
Minimum minimum(const Box& box, const Objective& objective);

}  // namespace syncline::validation

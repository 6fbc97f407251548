#pragma once

#include <functional>
#include <vector>

namespace syncline::validation {

using Point = std::vector<double>;

struct Box {
    Point least, most;
};

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

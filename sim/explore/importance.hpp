#pragma once

#include <cstddef>
#include <vector>

/// The importance of a single axis of a study, its main effect: Var(E[f | axis]) / Var(f), the variance of the means of
/// f by the axis's value, each with the weight of its points, over the variance of f. It is the first-order Sobol index
/// (I. Sobol', Math. Comput. Simul. 55, 2001), as in functional ANOVA (F. Hutter, H. Hoos, K. Leyton-Brown, ICML 2014),
/// here of the points themselves: those that fit, were simulated, and satisfy the constraints. On a full factorial the
/// shares of all axes add up to at most 1; the rest is due to combinations. On other points axes are confounded, and
/// shares may add up to more: association() measures how far. Left out: confounding of three or more axes of which no
/// two are associated.
namespace syncline::batch {

struct MainEffect {
    double share = 0;           ///< 0 if f does not vary
    std::vector<double> means;  ///< by value; NaN for a value without a point
};

/// Returns the main effect of an axis. `value_of[p]` is the index of the axis's value of point p, from 0; `f[p]` is the
/// objective.
MainEffect main_effect(const std::vector<std::size_t>& value_of, const std::vector<double>& f);

/// Returns how far two axes vary together over the points, from the indices of their values: Cramér's V (H. Cramér,
/// Mathematical Methods of Statistics, 1946, 21.9), sqrt(χ²/n / (min(r, c) - 1)) of the table of r by c values. 0: as
/// on a full factorial, or if one axis does not vary. 1: the axis with more values determines the other.
double association(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b);

}  // namespace syncline::batch

#pragma once

#include <cstddef>
#include <vector>

/// How much one axis of a study matters by itself: its main effect.
///
/// The share is Var(E[f | axis]) / Var(f): the variance of the means of f by the axis's value, each with the weight of
/// its points, over the variance of f. It is the first-order Sobol index (I. Sobol', Math. Comput. Simul. 55, 2001),
/// and what functional ANOVA gives for one hyperparameter (F. Hutter, H. Hoos, K. Leyton-Brown, ICML 2014), here of the
/// points themselves and not of a model fitted to them: of those that fit, were simulated, and satisfy the constraints,
/// and of no others. On a full factorial the shares of all axes add up to at most 1, and to 1 exactly where f is a sum
/// of one function for each axis; what is missing goes with combinations. On other points axes are confounded, and
/// shares may add up to more: association() says how far. Confounding of three axes or more, of which no two are
/// associated, is left out.
namespace syncline::batch {

struct MainEffect {
    double share = 0;           ///< 0 where f does not vary
    std::vector<double> means;  ///< by value; NaN for a value without a point
};

/// `value_of[p]`: which of the axis's values point p has, from 0; `f[p]`: what varies.
MainEffect main_effect(const std::vector<std::size_t>& value_of, const std::vector<double>& f);

/// How far two axes vary together over the points, from which of its values each has: Cramér's V (H. Cramér,
/// Mathematical Methods of Statistics, 1946, 21.9), sqrt(χ²/n / (min(r, c) - 1)) of the table of r by c values that
/// points have. 0: each value of one goes with the other's in the same proportions, as on a full factorial. 1: the axis
/// with more values determines the other, so that no share tells the two apart. 0 where one does not vary.
double association(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b);

}  // namespace syncline::batch

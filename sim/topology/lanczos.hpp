#pragma once

#include <Eigen/Core>
#include <functional>

/// The method of C. Lanczos (J. Res. NBS 45, 1950), with full reorthogonalisation, for symmetric operators that map the
/// constant vectors to themselves. It works in the space orthogonal to the constant vectors only, because their
/// eigenvalue is known.
namespace syncline {

struct Extremes {
    double greatest = 0, least = 0;  ///< eigenvalues
    Eigen::VectorXd mode;            ///< eigenvector of the greatest one
    bool converged = false;          ///< the eigenvalue of greater modulus is within the tolerance
};

using Operator = std::function<Eigen::VectorXd(const Eigen::VectorXd&)>;

/// `order`, at least 2, is the order of the operator; the tolerance is relative if eigenvalues exceed 1. After order -
/// 1 steps the result is exact except for rounding.
Extremes lanczos(const Operator& apply, Eigen::Index order, Eigen::Index steps, double tolerance);

}  // namespace syncline

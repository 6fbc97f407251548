#pragma once

#include <Eigen/Core>
#include <functional>

/// The method of C. Lanczos (J. Res. NBS 45, 1950), with full reorthogonalisation, for symmetric operators that map the
/// constant vectors to themselves. Sees the vectors orthogonal to those only: the constant is no news.
namespace syncline {

struct Extremes {
    double greatest = 0, least = 0;  ///< eigenvalues
    Eigen::VectorXd mode;            ///< eigenvector of the greatest one
    bool converged = false;          ///< the one of greater modulus is within the tolerance
};

using Operator = std::function<Eigen::VectorXd(const Eigen::VectorXd&)>;

/// `order`, at least 2, is that of the operator; the tolerance is relative where eigenvalues exceed 1. After order - 1
/// steps the result is exact but for rounding.
Extremes lanczos(const Operator& apply, Eigen::Index order, Eigen::Index steps, double tolerance);

}  // namespace syncline

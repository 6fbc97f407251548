#include "sim/topology/lanczos.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <random>

namespace syncline {

Extremes lanczos(const Operator& apply, Eigen::Index order, Eigen::Index steps, double tolerance) {
    const auto without_mean = [](Eigen::VectorXd vector) {
        vector.array() -= vector.mean();
        return vector;
    };
    std::mt19937 random;  // the standard fixes its numbers, so the start is the same everywhere
    Eigen::VectorXd next(order);
    for (double& entry : next) entry = static_cast<double>(random());
    next = without_mean(next).normalized();

    steps = std::min(steps, order - 1);
    Eigen::MatrixXd basis(order, steps);
    Eigen::VectorXd diagonal(steps), beside(steps);
    Extremes result;
    for (Eigen::Index step = 0; step < steps && !result.converged; ++step) {
        basis.col(step) = next;
        next = apply(next);
        diagonal[step] = next.dot(basis.col(step));
        const auto so_far = basis.leftCols(step + 1);
        for (int twice = 0; twice < 2; ++twice) {  // a single pass leaves rounding errors that grow
            next = without_mean(next);
            next -= so_far * (so_far.transpose() * next).eval();
        }
        beside[step] = next.norm();
        const bool exhausted = step + 1 == order - 1 || beside[step] < 1e-13 * std::max(1.0, std::abs(diagonal[step]));
        if (exhausted || step + 1 == steps || step % 16 == 15) {
            Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> small;
            small.computeFromTridiagonal(diagonal.head(step + 1), beside.head(step));
            result.least = small.eigenvalues()[0];
            result.greatest = small.eigenvalues()[step];
            // Bounds the distance of some eigenvalue from an end: the last component of the small eigenvector times β.
            const auto farthest = [&](Eigen::Index end) {
                return std::abs(small.eigenvalues()[end]) + beside[step] * std::abs(small.eigenvectors()(step, end));
            };
            const double modulus = std::max(std::abs(result.least), std::abs(result.greatest));
            const double error = std::max(farthest(0), farthest(step)) - modulus;
            result.converged = exhausted || error < tolerance * std::max(1.0, modulus);
            if (result.converged || step + 1 == steps) result.mode = so_far * small.eigenvectors().col(step);
        }
        if (!result.converged) next /= beside[step];
    }
    return result;
}

}  // namespace syncline

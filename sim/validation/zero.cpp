#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "sim/validation/solvers.hpp"

namespace syncline::validation {

namespace {

using Vector = Eigen::VectorXd;

constexpr double close_enough = 1e-8;  // of every value, which is a logarithm
constexpr double apart = 0.01;
constexpr int most_steps = 20;
constexpr double slow = 0.3;  // a step that leaves more of the values than this asks for new derivatives

Vector vector_of(const std::vector<double>& values) {
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

Point inside(const Box& box, const Vector& at) {
    Point point(box.least.size());
    for (std::size_t i = 0; i < point.size(); ++i)
        point[i] = std::clamp(at(static_cast<Eigen::Index>(i)), box.least[i], box.most[i]);
    return point;
}

/// Returns the derivatives at a point, by differences to its neighbours in the box.
Eigen::MatrixXd derivatives(const Box& box, const Vector& at, const Vector& values, const Functions& functions) {
    std::vector<Point> points;
    std::vector<double> widths;
    for (std::size_t i = 0; i < box.least.size(); ++i) {
        Point next = inside(box, at);
        const double from = next[i];
        next[i] = from + apart <= box.most[i] ? from + apart : from - apart;
        widths.push_back(next[i] - from);
        points.push_back(std::move(next));
    }
    const std::vector<std::vector<double>> all = functions(points);
    Eigen::MatrixXd jacobian(values.size(), at.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        jacobian.col(static_cast<Eigen::Index>(i)) = (vector_of(all[i]) - values) / widths[i];
    return jacobian;
}

}  // namespace

std::optional<Point> zero(const Box& box, const Functions& functions) {
    const auto values_at = [&](const Vector& at) { return vector_of(functions({inside(box, at)}).front()); };
    Vector at = (vector_of(box.least) + vector_of(box.most)) / 2;
    Vector values = values_at(at);
    Eigen::MatrixXd jacobian;
    for (int step = 0; step < most_steps; ++step) {
        if (values.lpNorm<Eigen::Infinity>() < close_enough) return inside(box, at);
        const bool fresh = jacobian.size() == 0;
        if (fresh) jacobian = derivatives(box, at, values, functions);
        Vector move = jacobian.completeOrthogonalDecomposition().solve(-values);
        const Vector widest = (vector_of(box.most) - vector_of(box.least)) / 2;
        const double too_far = move.cwiseAbs().cwiseQuotient(widest).maxCoeff();
        if (!std::isfinite(too_far)) return std::nullopt;
        if (too_far > 1) move /= too_far;
        const Vector next = vector_of(inside(box, at + move));
        move = next - at;
        if (move.squaredNorm() == 0) return std::nullopt;  // against a bound
        const Vector there = values_at(next);
        if (there.norm() < slow * values.norm()) {
            jacobian += (there - values - jacobian * move) * move.transpose() / move.squaredNorm();
        } else {
            if (!fresh) {  // once more, with derivatives of here
                jacobian.resize(0, 0);
                if (there.norm() >= values.norm()) continue;
            } else if (there.norm() >= values.norm()) {
                return std::nullopt;
            }
            jacobian.resize(0, 0);
        }
        at = next;
        values = there;
    }
    return std::nullopt;
}

}  // namespace syncline::validation

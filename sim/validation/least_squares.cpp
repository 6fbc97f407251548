#include "sim/validation/least_squares.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "sim/validation/solvers.hpp"

namespace syncline::validation {

namespace {

constexpr double difference = 0.01;       // of a logarithm, on each side
constexpr double no_slope = 1e-6;         // percent of all measurements per percent of an unknown
constexpr double at_a_bound = 1e-6;       // relative to the value
constexpr double least_condition = 1e-8;  // reciprocal condition of JᵀJ with columns of length one
constexpr double takes_part = 0.1;        // share in a combination without effect, whose length is one

/// Rounds to ten digits, both for trials and for output.
double rounded(double value) {
    return std::strtod(fmt::format("{:.10g}", value).c_str(), nullptr);
}

double sum_of_squares(const std::vector<double>& r) {
    return std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
}

class Solver {
public:
    Solver(const std::vector<Unknown>& unknowns, std::size_t measurements, const Residuals& residuals)
        : unknowns_(unknowns), measurements_(measurements), residuals_(residuals), fit_{{}, true} {
        fit_.unknowns.resize(unknowns.size());
    }

    Fit solve() {
        if (measurements_ < unknowns_.size()) return std::move(fit_);
        free_.resize(unknowns_.size());
        std::iota(free_.begin(), free_.end(), std::size_t{0});
        while (!free_.empty()) {
            if (!fit_exactly()) minimise();
            differentiate();
            if (!drop_without_effect() && !drop_not_told_apart()) break;
        }
        judge();
        return std::move(fit_);
    }

private:
    using Matrix = Eigen::MatrixXd;

    Trial trial(const Point& logarithms) const {
        Trial all(unknowns_.size());
        for (std::size_t i = 0; i < free_.size(); ++i) all[free_[i]] = rounded(std::exp(logarithms[i]));
        return all;
    }

    std::vector<std::vector<double>> residuals_at(const std::vector<Point>& points) const {
        std::vector<Trial> trials;
        for (const Point& point : points) trials.push_back(trial(point));
        return residuals_(trials);
    }

    double least(std::size_t i) const { return std::log(unknowns_[free_[i]].least); }
    double most(std::size_t i) const { return std::log(unknowns_[free_[i]].most); }

    /// What can be met exactly takes fewer simulations than a search for a minimum, for one unknown and one measurement
    /// a third.
    bool fit_exactly() {
        if (free_.size() > 1) return fit_several();
        if (measurements_ != 1) return false;
        const std::optional<double> at = root(least(0), most(0), [&](const std::vector<double>& logarithms) {
            std::vector<Point> points;
            for (const double logarithm : logarithms) points.push_back({logarithm});
            std::vector<double> values;
            for (const std::vector<double>& r : residuals_at(points)) values.push_back(r.front());
            return values;
        });
        if (at) at_ = {*at};
        return at.has_value();
    }

    Box box() const {
        Box box;
        for (std::size_t i = 0; i < free_.size(); ++i) {
            box.least.push_back(least(i));
            box.most.push_back(most(i));
        }
        return box;
    }

    bool fit_several() {
        const std::optional<Point> at =
            zero(box(), [&](const std::vector<Point>& points) { return residuals_at(points); });
        if (at) at_ = *at;
        return at.has_value();
    }

    void minimise() {
        const Minimum found = minimum(box(), [&](const std::vector<Point>& points) {
            std::vector<double> values;
            for (const std::vector<double>& r : residuals_at(points)) values.push_back(sum_of_squares(r));
            return values;
        });
        at_ = found.at;
        fit_.converged = found.converged;
    }

    /// Computes r and J at the minimum; differences stay within the bounds.
    void differentiate() {
        std::vector<Trial> trials{trial(at_)};
        std::vector<double> widths;
        for (std::size_t i = 0; i < free_.size(); ++i) {
            Point down = at_, up = at_;
            down[i] = std::max(at_[i] - difference, least(i));
            up[i] = std::min(at_[i] + difference, most(i));
            widths.push_back(up[i] - down[i]);
            trials.push_back(trial(down));
            trials.push_back(trial(up));
        }
        const std::vector<std::vector<double>> r = residuals_(trials);
        r_ = r.front();
        jacobian_.resize(static_cast<Eigen::Index>(measurements_), static_cast<Eigen::Index>(free_.size()));
        for (std::size_t i = 0; i < free_.size(); ++i)
            for (std::size_t j = 0; j < measurements_; ++j)
                jacobian_(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)) =
                    (r[2 * i + 2][j] - r[2 * i + 1][j]) / widths[i];
    }

    double slope(std::size_t i) const { return jacobian_.col(static_cast<Eigen::Index>(i)).norm(); }

    /// Removes an unknown without effect, if there is one. An unknown with a plateau stays if its own value is not on
    /// the plateau.
    bool drop_without_effect() {
        for (std::size_t i = 0; i < free_.size(); ++i) {
            if (slope(i) > no_slope) continue;
            Trial own = trial(at_);
            own[free_[i]] = std::nullopt;
            const double here = sum_of_squares(r_), there = sum_of_squares(residuals_({own}).front());
            if (there > here + no_slope * no_slope) continue;
            fit_.unknowns[free_[i]] = {.ending = Ending::no_effect};
            free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
            return true;
        }
        return false;
    }

    /// Returns the unknowns whose value is determined: neither at a bound nor on a plateau.
    std::vector<std::size_t> inner() const {
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < free_.size(); ++i)
            if (ending(i) == Ending::found) places.push_back(i);
        return places;
    }

    Matrix columns(const std::vector<std::size_t>& places) const {
        Matrix some(jacobian_.rows(), static_cast<Eigen::Index>(places.size()));
        for (std::size_t i = 0; i < places.size(); ++i)
            some.col(static_cast<Eigen::Index>(i)) = jacobian_.col(static_cast<Eigen::Index>(places[i]));
        return some;
    }

    /// Removes the last unknown of a combination without effect, if there is one.
    bool drop_not_told_apart() {
        const std::vector<std::size_t> places = inner();
        if (places.size() < 2) return false;
        Matrix scaled = columns(places);
        scaled.colwise().normalize();
        const Eigen::SelfAdjointEigenSolver<Matrix> solver(scaled.transpose() * scaled);
        const auto& values = solver.eigenvalues();  // ascending
        if (values(0) > least_condition * values(values.size() - 1)) return false;
        std::vector<std::size_t> together;
        for (std::size_t i = 0; i < places.size(); ++i)
            if (std::abs(solver.eigenvectors()(static_cast<Eigen::Index>(i), 0)) > takes_part)
                together.push_back(free_[places[i]]);
        const std::size_t last = together.back();
        together.pop_back();
        fit_.unknowns[last] = {.ending = Ending::not_told_apart, .others = std::move(together)};
        free_.erase(std::find(free_.begin(), free_.end(), last));
        return true;
    }

    Ending ending(std::size_t i) const {
        if (slope(i) <= no_slope) return Ending::plateau;
        const Eigen::Map<const Eigen::VectorXd> r(r_.data(), static_cast<Eigen::Index>(r_.size()));
        const double rises = jacobian_.col(static_cast<Eigen::Index>(i)).dot(r);
        if (at_[i] - least(i) < at_a_bound && rises > no_slope) return Ending::at_least;
        if (most(i) - at_[i] < at_a_bound && rises < -no_slope) return Ending::at_most;
        return Ending::found;
    }

    void judge() {
        for (std::size_t i = 0; i < free_.size(); ++i)
            fit_.unknowns[free_[i]] = {.value = rounded(std::exp(at_[i])), .ending = ending(i)};
        const std::vector<std::size_t> places = inner();
        if (places.empty()) return;
        const Matrix some = columns(places);
        const Matrix covariance = (some.transpose() * some).inverse();
        for (std::size_t i = 0; i < places.size(); ++i) {
            Solution& solution = fit_.unknowns[free_[places[i]]];
            const double moves = std::sqrt(covariance(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)));
            solution.percent_per_percent = moves;
            if (measurements_ <= free_.size()) continue;
            const double spare = static_cast<double>(measurements_ - free_.size());
            solution.relative_standard_error = moves * std::sqrt(sum_of_squares(r_) / spare);
        }
    }

    const std::vector<Unknown>& unknowns_;
    const std::size_t measurements_;
    const Residuals& residuals_;
    Fit fit_;
    std::vector<std::size_t> free_;  ///< numbers of the unknowns that are varied
    Point at_;                       ///< their logarithms at the minimum
    std::vector<double> r_;
    Matrix jacobian_;
};

}  // namespace

Fit least_squares(const std::vector<Unknown>& unknowns, std::size_t measurements, const Residuals& residuals) {
    return Solver(unknowns, measurements, residuals).solve();
}

}  // namespace syncline::validation

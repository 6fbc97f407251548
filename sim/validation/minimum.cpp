#include "sim/validation/solvers.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <stdexcept>

namespace syncline::validation {

namespace {

constexpr double step_at_the_end = 1e-6;   // of a logarithm, so relative to the value
constexpr double as_good_as_zero = 1e-20;  // a sum of squares
constexpr int most_trials_each = 150;      // a chosen limit: smooth problems take about 20 trials per unknown

/// Returns the number of points in each direction of the grid. The numbers are chosen: a grid takes few simulations,
/// and finds the right side of a kink.
std::size_t levels(std::size_t unknowns) {
    constexpr std::size_t by_unknowns[] = {0, 7, 4, 3, 2};
    return unknowns < std::size(by_unknowns) ? by_unknowns[unknowns] : 1;
}

std::vector<Point> grid(const Box& box, std::size_t each) {
    const std::size_t size = box.least.size();
    std::vector<Point> points{{}};
    for (std::size_t i = 0; i < size; ++i) {
        std::vector<Point> longer;
        for (const Point& point : points)
            for (std::size_t level = 0; level < each; ++level) {
                const double part = (static_cast<double>(level) + 0.5) / static_cast<double>(each);
                longer.push_back(point);
                longer.back().push_back(box.least[i] + part * (box.most[i] - box.least[i]));
            }
        points = std::move(longer);
    }
    return points;
}

/// Keeps an exception until NLopt has returned: it is C, through which exceptions must not pass.
struct Asked {
    nlopt_opt optimizer;
    const Objective& objective;
    std::exception_ptr thrown = {};
};

double answer(unsigned size, const double* at, double*, void* data) {
    Asked& asked = *static_cast<Asked*>(data);
    try {
        return asked.objective({Point(at, at + size)}).front();
    } catch (...) {
        asked.thrown = std::current_exception();
        nlopt_force_stop(asked.optimizer);
        return HUGE_VAL;
    }
}

}  // namespace

Minimum minimum(const Box& box, const Objective& objective) {
    const std::size_t size = box.least.size(), each = levels(size);
    const std::vector<Point> points = grid(box, each);
    const std::vector<double> values = objective(points);
    Point at = points[static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin())];

    const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimizer(
        nlopt_create(NLOPT_LN_BOBYQA, static_cast<unsigned>(size)), &nlopt_destroy);
    if (!optimizer) throw std::bad_alloc();
    Point step(size);
    for (std::size_t i = 0; i < size; ++i) step[i] = (box.most[i] - box.least[i]) / (2 * static_cast<double>(each));
    Asked asked{optimizer.get(), objective};
    nlopt_set_lower_bounds(optimizer.get(), box.least.data());
    nlopt_set_upper_bounds(optimizer.get(), box.most.data());
    nlopt_set_initial_step(optimizer.get(), step.data());
    nlopt_set_xtol_abs1(optimizer.get(), step_at_the_end);
    nlopt_set_stopval(optimizer.get(), as_good_as_zero);
    nlopt_set_maxeval(optimizer.get(), most_trials_each * static_cast<int>(size));
    nlopt_set_min_objective(optimizer.get(), answer, &asked);
    double value = 0;
    const nlopt_result result = nlopt_optimize(optimizer.get(), at.data(), &value);
    if (asked.thrown) std::rethrow_exception(asked.thrown);
    if (result < 0 && result != NLOPT_ROUNDOFF_LIMITED)
        throw std::logic_error("NLopt cannot minimise this: it returned " + std::to_string(result));
    return {std::move(at), result != NLOPT_MAXEVAL_REACHED};
}

}  // namespace syncline::validation

#include "sim/validation/solvers.hpp"

#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>

namespace syncline::validation {

namespace {

constexpr double narrow_enough = 1e-9;
constexpr double small_enough = 1e-10;
constexpr std::uintmax_t most_evaluations = 100;  // a chosen limit: smooth functions take about six

}  // namespace

std::optional<double> root(double least, double most, const Function& function) {
    const std::vector<double> ends = function({least, most});
    if (!(ends[0] * ends[1] < 0)) return std::nullopt;
    std::uintmax_t evaluations = most_evaluations;
    double best = least, value_there = ends[0];
    const auto [below, above] = boost::math::tools::toms748_solve(
        [&](double at) {
            const double value = function({at}).front();
            if (std::abs(value) < std::abs(value_there)) {
                best = at;
                value_there = value;
            }
            return std::abs(value) <= small_enough ? 0 : value;
        },
        least, most, ends[0], ends[1], [](double a, double b) { return std::abs(b - a) <= narrow_enough; },
        evaluations);
    if (above - below > narrow_enough) return std::nullopt;
    return best;
}

}  // namespace syncline::validation

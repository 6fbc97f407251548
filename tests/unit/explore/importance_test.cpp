#include "sim/explore/importance.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/unit/factorial.hpp"

// Shares of the variance of functions on a grid, compared with results by hand.

using namespace syncline::batch;
using syncline::test::factorial;

namespace {

template <class Function>
std::vector<MainEffect> effects(const std::vector<std::vector<std::size_t>>& points, const Function& function) {
    std::vector<double> f;
    for (const auto& point : points) f.push_back(function(std::vector<double>(point.begin(), point.end())));
    std::vector<MainEffect> all;
    for (std::size_t axis = 0; axis < points.front().size(); ++axis) {
        std::vector<std::size_t> value_of;
        for (const auto& point : points) value_of.push_back(point[axis]);
        all.push_back(main_effect(value_of, f));
    }
    return all;
}

using Point = std::vector<double>;

}  // namespace

TEST_CASE("for a sum, each axis has the share of its own variance, and shares add up to 1", "[memory]") {
    // The variances of 0, 1 and of 0, 3, 6 are 1/4 and 6; that of the third axis is zero.
    const auto all = effects(factorial({2, 3, 4}), [](const Point& p) { return 100 + p[0] + 3.0 * p[1]; });
    CHECK(all[0].share == Approx(0.25 / 6.25));
    CHECK(all[1].share == Approx(6 / 6.25));
    CHECK(all[2].share == Approx(0).margin(1e-15));
    CHECK(all[1].means[0] == Approx(100.5));
    CHECK(all[1].means[2] == Approx(106.5));
}

TEST_CASE("for a product, a part of the variance belongs to the combination alone", "[memory]") {
    // On {-1, 1}² no axis has a share of its own; on {1, 2}² f = 1, 2, 2, 4 has the variance 19/16, and the means by
    // value, 1.5 and 3, have 9/16.
    const auto none = effects(factorial({2, 2}), [](const Point& p) { return p[0] == p[1] ? 1.0 : -1.0; });
    CHECK(none[0].share == Approx(0).margin(1e-15));
    CHECK(none[1].share == Approx(0).margin(1e-15));
    const auto some = effects(factorial({2, 2}), [](const Point& p) { return (p[0] + 1.0) * (p[1] + 1.0); });
    CHECK(some[0].share == Approx(9.0 / 19));
    CHECK(some[1].share == Approx(9.0 / 19));
}

TEST_CASE("a constant objective gives no axis a share", "[memory]") {
    const auto all = effects(factorial({3, 5}), [](const Point&) { return 0.1; });
    for (const MainEffect& effect : all) {
        CHECK(effect.share == 0);
        for (const double mean : effect.means) CHECK(mean == 0.1);
    }
    CHECK(main_effect({}, {}).share == 0);
    CHECK(main_effect({0}, {7}).share == 0);
}

TEST_CASE("values count as often as they have points", "[memory]") {
    // 0 once and 4 three times have mean 3 and variance 3, all of it between the values; with equal weights it would be
    // 4.
    CHECK(main_effect({0, 1, 1, 1}, {0, 4, 4, 4}).share == Approx(1));
    // Means 1 and 4 of two and of three points: 2·(1-2.8)² + 3·(4-2.8)² = 10.8 of 3.24·1+... = 0,2,3,4,5 around 2.8.
    const MainEffect effect = main_effect({0, 0, 1, 1, 1}, {0, 2, 3, 4, 5});
    CHECK(effect.share == Approx(10.8 / 14.8));
    // No point has the value 1.
    const MainEffect gap = main_effect({0, 0, 2}, {1, 3, 5});
    CHECK(gap.means[0] == 2);
    CHECK(std::isnan(gap.means[1]));
    CHECK(gap.share == Approx(6.0 / 8));
}

TEST_CASE("shares depend on neither the zero nor the unit", "[memory]") {
    const auto near = effects(factorial({3, 4}), [](const Point& p) { return std::sqrt(p[0]) + 0.3 * p[0] * p[1]; });
    const auto far =
        effects(factorial({3, 4}), [](const Point& p) { return 1e6 + 1e-3 * (std::sqrt(p[0]) + 0.3 * p[0] * p[1]); });
    for (std::size_t axis = 0; axis < 2; ++axis) CHECK(far[axis].share == Approx(near[axis].share).epsilon(1e-6));
}

TEST_CASE("axes of a full factorial are not associated, and an axis that determines another is fully associated",
          "[memory]") {
    const auto columns = [](const std::vector<std::vector<std::size_t>>& points) {
        std::vector<std::vector<std::size_t>> result(points.front().size());
        for (const auto& point : points)
            for (std::size_t axis = 0; axis < point.size(); ++axis) result[axis].push_back(point[axis]);
        return result;
    };
    const auto full = columns(factorial({2, 3, 4}));
    CHECK(association(full[0], full[1]) == Approx(0).margin(1e-7));
    CHECK(association(full[1], full[2]) == Approx(0).margin(1e-7));
    CHECK(association(full[2], full[2]) == Approx(1));
    // Grids 0, 1 belong to one variant, 2, 3 to the other.
    CHECK(association({0, 0, 1, 1}, {0, 1, 2, 3}) == Approx(1));
    CHECK(association({0, 1, 2, 3}, {0, 0, 1, 1}) == Approx(1));
    // A 2×2 table of 3, 1 / 1, 3: phi = (3·3 - 1·1)/(4·4) = 1/2.
    CHECK(association({0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 0, 1, 0, 1, 1, 1}) == Approx(0.5));
    CHECK(association({0, 0}, {0, 1}) == 0);
    CHECK(association({}, {}) == 0);
}

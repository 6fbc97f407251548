#include "sim/base/spread.hpp"
#include "tests/catch.hpp"

// Quantiles by hand: definition 7 of Hyndman and Fan, as numpy.quantile computes them.

using namespace syncline;

TEST_CASE("the spread of values has their mean and interpolated quantiles", "[memory]") {
    const Spread one = spread_of({7});
    CHECK((one.count == 1 && one.mean == 7 && one.median == 7 && one.p05 == 7 && one.p95 == 7));
    const Spread two = spread_of({3, 1});
    CHECK(two.mean == 2);
    CHECK(two.median == 2);
    CHECK(two.p05 == Approx(1.1).epsilon(1e-15));
    CHECK(two.p95 == Approx(2.9).epsilon(1e-15));
    std::vector<double> values;
    for (int i = 20; i >= 0; --i) values.push_back(i * i);
    const Spread squares = spread_of(values);
    CHECK(squares.count == 21);
    CHECK(squares.mean == Approx(2870.0 / 21).epsilon(1e-15));
    CHECK(squares.median == 100);
    CHECK(squares.p05 == 1);
    CHECK(squares.p95 == 361);
}

TEST_CASE("equal values have exactly their value as mean and quantiles", "[memory]") {
    const double value = 0.1 + 0.2;
    for (const std::size_t count : {1u, 3u, 7u, 1000u}) {
        const Spread spread = spread_of(std::vector<double>(count, value));
        CHECK((spread.mean == value && spread.median == value && spread.p05 == value && spread.p95 == value));
    }
}

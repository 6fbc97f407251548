#include "sim/validation/ranking.hpp"

#include "tests/catch.hpp"

using namespace syncline;
using namespace syncline::validation;

namespace {

/// Returns one series over `training.ranks`, whose rows share a sweep.
Validation compared(const std::vector<double>& measured, const std::vector<double>& predicted,
                    const std::string& field = "iteration_time_s") {
    Validation one;
    config::MeasuredSeries series;
    series.name = "s";
    series.field = field;
    series.over = {"training.ranks"};
    one.measurements.series.push_back(series);
    for (std::size_t i = 0; i < measured.size(); ++i) {
        config::MeasuredRow row;
        row.settings = {std::to_string(8 << i)};
        row.sweep = "model";
        row.value = measured[i];
        one.measurements.rows.push_back(row);
    }
    one.calibration.predicted = predicted;
    return one;
}

}  // namespace

TEST_CASE("ranking: Spearman's correlation of published examples", "[memory]") {
    CHECK(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 1000}) == Approx(1));
    CHECK(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}) == Approx(-1));
    // Without ties it is 1 - 6 Σd² / (n(n² - 1)): d = 1, 1, 0, 0, 0 and n = 5 give 1 - 12/120.
    CHECK(rank_correlation({1, 2, 3, 4, 5}, {2, 1, 3, 4, 5}) == Approx(0.9));
    // Ties have mean ranks, 1.5 and 1.5: the correlation of (1, 2, 3) with (1.5, 1.5, 3) is √3/2.
    CHECK(rank_correlation({1, 2, 3}, {7, 7, 9}) == Approx(0.8660254));
    CHECK(rank_correlation({1, 2, 3}, {5, 5, 5}) == 0);
}

TEST_CASE("ranking: what is lost with the layout that is predicted to be the best", "[memory]") {
    const std::vector<Sweep> times = sweeps(compared({10, 11, 15, 16}, {12, 9, 20, 30}));
    REQUIRE(times.size() == 1);
    CHECK(times[0].rows == 4);
    CHECK(times[0].regret == Approx(0.1));  // 11 s are taken, 10 s would be the best
    const std::vector<Sweep> rates = sweeps(compared({10, 8, 5, 4}, {9, 12, 4, 3}, "throughput_samples_per_s"));
    CHECK(rates[0].regret == Approx(0.25));           // 8 of 10 samples/s
    CHECK(rates[0].rank_correlation == Approx(0.8));  // one pair of neighbours is exchanged: 1 - 6·2 / (4·15)
    CHECK(sweeps(compared({10, 11, 15}, {12, 9, 20})).empty());
}

TEST_CASE("ranking: pairs count if they differ by more than the source's spread", "[memory]") {
    Validation one = compared({100, 102, 110, 130}, {9, 8, 12, 11});
    Sweep sweep = sweeps(one)[0];
    CHECK(sweep.pairs == 6);
    CHECK(sweep.pairs_in_order == 4);
    CHECK_FALSE(sweep.repeated_correlation);
    one.measurements.noise = 0.05;  // 100 and 102 do not differ
    sweep = sweeps(one)[0];
    CHECK(sweep.pairs == 5);
    CHECK(sweep.pairs_in_order == 4);
    one.measurements.noise = 0.09;  // neither do 102 and 110
    CHECK(sweeps(one)[0].pairs == 4);
    // Equal predictions order no pair: of the six, that of 100 and 102, and that of 110 and 130, are not in order.
    sweep = sweeps(compared({100, 102, 110, 130}, {9, 9, 12, 11}))[0];
    CHECK(sweep.pairs == 6);
    CHECK(sweep.pairs_in_order == 4);
    // Of rates more is better, and the order of pairs is the same.
    Validation rates = compared({100, 102, 110, 130}, {9, 8, 12, 11}, "throughput_samples_per_s");
    rates.measurements.noise = 0.05;
    CHECK(sweeps(rates)[0].pairs == 5);
    CHECK(sweeps(rates)[0].pairs_in_order == 4);
}

TEST_CASE("ranking: a second measurement has a lower correlation the wider its spread, of close values of chance",
          "[memory]") {
    // Values that differ by a factor of two each keep their order at 1 %, and values that do not differ have none.
    Validation far = compared({100, 200, 400, 800}, {1, 2, 3, 4}), near = compared({100, 101, 102, 103}, {1, 2, 3, 4});
    far.measurements.noise = 0.01;
    CHECK(*sweeps(far)[0].repeated_correlation == Approx(1));
    double last = 1;
    for (const double spread : {0.003, 0.01, 0.03, 0.1, 1.0}) {
        near.measurements.noise = spread;
        const double correlation = *sweeps(near)[0].repeated_correlation;
        CHECK(correlation < last);
        last = correlation;
    }
    // The mean of a thousand random orders of n = 4 has a standard error of sqrt(1/(n - 1)/1000) = 0.018.
    CHECK(std::abs(last) < 0.1);
}

TEST_CASE("ranking: the error of the ratio between the most and the fewest ranks", "[memory]") {
    const auto found = scalings(compared({8, 4, 2}, {8, 5, 2.2}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].ratio_error == Approx(0.1));
}

#include "sim/analysis/checkpoint_interval.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"

// Young's and Daly's formulas, beside values that Daly's paper names and a minimum that is searched.

using namespace syncline;

namespace {

constexpr double minute = 60, hour = 3600;

/// Returns the interval with the shortest expected time, by golden-section search.
double best_interval_s(Interrupted run, double low, double high) {
    const double part = (std::sqrt(5.0) - 1) / 2;
    const auto elapsed_s = [&](double interval_s) {
        run.interval_s = interval_s;
        return expected_elapsed_s(run);
    };
    for (int i = 0; i < 200; ++i) {
        const double a = high - part * (high - low), b = low + part * (high - low);
        (elapsed_s(a) < elapsed_s(b) ? high : low) = elapsed_s(a) < elapsed_s(b) ? b : a;
    }
    return low;
}

}  // namespace

TEST_CASE("checkpoint interval: Young's and Daly's optima, and the expected time, have published values") {
    // J. Daly, FGCS 22, 2006: a checkpoint of 5 min and a restart of 10 min; its figures name 117, 57 and 9.1 min.
    struct Row {
        double mtbf_s, young_min, daly_min, elapsed_h;
    };
    for (const Row& row :
         {Row{24 * hour, 120, 117, 547.9}, Row{6 * hour, 60, 57, 610.2}, Row{15 * minute, 12.25, 9.1, 2504}}) {
        CAPTURE(row.mtbf_s);
        CHECK(young_interval_s(5 * minute, row.mtbf_s) == Approx(row.young_min * minute).epsilon(1e-3));
        const double daly_s = daly_interval_s(5 * minute, row.mtbf_s);
        CHECK(daly_s == Approx(row.daly_min * minute).epsilon(0.01));
        Interrupted run{500 * hour, daly_s, 5 * minute, 0, 10 * minute, row.mtbf_s};
        CHECK(expected_elapsed_s(run) == Approx(row.elapsed_h * hour).epsilon(1e-3));
        CHECK(daly_s == Approx(best_interval_s(run, minute, row.mtbf_s)).epsilon(0.01));
        run.restart_s = 0;  // it only scales the time
        CHECK(daly_s == Approx(best_interval_s(run, minute, row.mtbf_s)).epsilon(0.01));
    }
}

TEST_CASE("checkpoint interval: limits of the formulas") {
    const double never = std::numeric_limits<double>::infinity();
    CHECK(daly_interval_s(60, 30) == 30);  // d ≥ 2M
    CHECK(daly_interval_s(0, 3600) == 0);
    CHECK(daly_interval_s(60, never) == never);
    // Without failures only checkpoints add to the useful time: 100 of 60 s, and one that waits for the one before it.
    CHECK(expected_elapsed_s({1000, 10, 60, 0, 600, never}) == Approx(1000 + 100 * 60));
    CHECK(expected_elapsed_s({1000, 10, 2, 15, 600, never}) == Approx(100 * (15 + 2)));
    // An expected time that no number can hold.
    CHECK(std::isinf(expected_elapsed_s({1000, 1e6, 0, 0, 0, 1})));
}

TEST_CASE(
    "checkpoint interval: an overlapped checkpoint without a snapshot is best taken as soon as the last is complete") {
    const Interrupted run{500 * hour, 0, 0, 8 * minute, 10 * minute, 3 * hour};
    CHECK(best_interval_s(run, minute, 3 * hour) == Approx(8 * minute).epsilon(1e-6));
}

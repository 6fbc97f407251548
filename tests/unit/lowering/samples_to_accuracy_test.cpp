#include "sim/plan/samples_to_accuracy.hpp"

#include <cmath>

#include "tests/catch.hpp"

// Interpolation of a user's curve, beside pencil arithmetic.

using namespace syncline;

TEST_CASE("samples to accuracy: a power law between points is met exactly") {
    // samples = 1e6 · √(batch/100)
    const std::vector<AccuracyPoint> curve{{10000, 0, 1e7}, {100, 0, 1e6}};
    CHECK(*samples_to_accuracy(curve, 100, 0).samples == 1e6);
    CHECK(*samples_to_accuracy(curve, 10000, 0).samples == 1e7);
    CHECK(*samples_to_accuracy(curve, 400, 0).samples == Approx(2e6).epsilon(1e-12));
    CHECK(*samples_to_accuracy(curve, 2500, 0).samples == Approx(5e6).epsilon(1e-12));
}

TEST_CASE("samples to accuracy: stalenesses are weighted, each at the same batch") {
    const std::vector<AccuracyPoint> curve{{32, 0, 1e6}, {128, 0, 1e6}, {16, 4, 2e6}, {256, 4, 8e6}, {64, 8, 1e9}};
    // At 64, staleness 0 needs 1e6, and staleness 4 half of the way in log(batch) from 2e6 to 8e6: 4e6.
    CHECK(*samples_to_accuracy(curve, 64, 4).samples == Approx(4e6).epsilon(1e-12));
    CHECK(*samples_to_accuracy(curve, 64, 1).samples == Approx(1.75e6).epsilon(1e-12));
    CHECK(*samples_to_accuracy(curve, 64, 8).samples == 1e9);
    // 16 is known at staleness 4 alone.
    CHECK(*samples_to_accuracy(curve, 16, 4).samples == 2e6);
    CHECK(!samples_to_accuracy(curve, 16, 3).samples);
}

TEST_CASE("samples to accuracy: nothing is extrapolated") {
    const std::vector<AccuracyPoint> curve{{32, 0, 1e6}, {128, 0, 1e6}, {32, 4, 2e6}};
    const auto why = [&](double batch, double staleness) {
        const SamplesNeeded needed = samples_to_accuracy(curve, batch, staleness);
        CHECK(!needed.samples);
        return needed.why;
    };
    CHECK(why(16, 0) == "a batch of 16 is outside of the curve, which has 32 to 128 samples at staleness 0");
    CHECK(why(129, 0).find("a batch of 129") == 0);
    CHECK(why(64, 4) == "a batch of 64 is outside of the curve, which has 32 samples at staleness 4");
    CHECK(why(64, 5) == "a staleness of 5 is outside of the curve, which has 0 to 4");
    CHECK(!samples_to_accuracy({}, 1, 0).samples);
}

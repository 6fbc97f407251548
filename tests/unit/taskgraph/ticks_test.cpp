#include <cmath>
#include <random>
#include <vector>

#include "sim/taskgraph/ticks.hpp"
#include "tests/catch.hpp"

// A clock's next tick, including times that are sums of rounded terms.

using namespace syncline;

TEST_CASE("next tick: a time at a tick is that tick, however it was added up", "[memory]") {
    for (const double period_s : {1e-6, 0.3e-3, 1.2e-3, 3e-3, 5e-3, 0.05, 0.1, 0.7, 3600.0}) {
        std::vector<int> missed;
        double sum_s = 0;
        for (int number = 0; number <= 20000; ++number, sum_s += period_s) {
            const double tick_s = number * period_s;
            if (next_tick(tick_s, period_s) != tick_s || next_tick(sum_s, period_s) != tick_s) missed.push_back(number);
        }
        CAPTURE(period_s);
        CHECK(missed == std::vector<int>{});
    }
    // Forward and backward passes that end at the 12th, 14th and 5th tick; a bare ceil() would put their sums after it.
    CHECK(next_tick(0.012 + 0.024, 0.003) == 12 * 0.003);
    CHECK(next_tick(0.02 + 0.05, 0.005) == 14 * 0.005);
    CHECK(next_tick(0.002 + 0.004, 0.0012) == 5 * 0.0012);
}

TEST_CASE("next tick: it is the first that is not before", "[memory]") {
    std::mt19937 random(1);
    const auto draw = [&](double least, double most) {
        return std::exp(std::uniform_real_distribution<double>(std::log(least), std::log(most))(random));
    };
    for (int round = 0; round < 2000; ++round) {
        const double period_s = draw(1e-6, 10), since_s = draw(1e-9, 1e3);
        const double tick_s = next_tick(since_s, period_s);
        CAPTURE(period_s, since_s);
        CHECK(tick_s >= since_s * (1 - 1e-9));
        CHECK(tick_s - period_s < since_s);
        CHECK(next_tick(tick_s, period_s) == tick_s);
    }
    CHECK(next_tick(0, 5e-3) == 0);
    CHECK(next_tick(1e-15, 5e-3) == 5e-3);  // slightly after the start
    CHECK(next_tick(5e-3 * (1 + 1e-8), 5e-3) == 1e-2);
    CHECK(next_tick(5e-3 * (1 + 1e-10), 5e-3) == 5e-3);
    CHECK(next_tick(5e-3 * (1 - 1e-10), 5e-3) == 5e-3);
}

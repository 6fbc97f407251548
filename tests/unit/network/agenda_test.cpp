#include "sim/network/agenda.hpp"

#include <limits>
#include <map>
#include <vector>

#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"

using namespace syncline;

TEST_CASE("an agenda gives the earliest time, whatever was moved or withdrawn", "[memory]") {
    Chance chance(7);
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        Agenda agenda;
        std::map<std::uint32_t, double> times;  // by number
        for (int step = 0; step < 400; ++step) {
            const std::uint32_t number = chance.below(50);
            // Few different times, so that many are equal, and some that no other has.
            const double time_s = chance.below(4) > 0 ? chance.below(6) : 1e-3 * chance.below(100'000);
            switch (chance.below(4)) {
                case 0:
                    agenda.cancel(number);
                    times.erase(number);
                    break;
                case 1:
                    if (!times.empty()) {
                        const std::uint32_t first = agenda.pop();
                        REQUIRE(times.contains(first));
                        for (const auto& [other, other_s] : times) REQUIRE(times.at(first) <= other_s);
                        times.erase(first);
                    }
                    break;
                default:
                    agenda.set(number, time_s);
                    times[number] = time_s;
            }
            double least_s = std::numeric_limits<double>::infinity();
            for (const auto& [other, other_s] : times) least_s = std::min(least_s, other_s);
            REQUIRE(agenda.next_s() == least_s);
        }
    }
}

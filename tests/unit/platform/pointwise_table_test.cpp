#include "sim/platform/pointwise_table.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/unit/devices.hpp"

// Times of memory-bound kernels by kind: interpolation by hand, order over ranges, and the shipped table's limits.

using namespace syncline;
using namespace syncline::test;

TEST_CASE("pointwise: measured points are exact, times between them are powers of the bytes", "[memory]") {
    const PointwiseTable table({{Pointwise::addition, 100, 1}, {Pointwise::addition, 400, 8}});
    CHECK(table.seconds(Pointwise::addition, 100).value() == Approx(1));
    CHECK(table.seconds(Pointwise::addition, 400).value() == Approx(8));
    CHECK(table.seconds(Pointwise::addition, 200).value() == Approx(std::sqrt(8)));  // halfway between their logarithms
    CHECK(table.seconds(Pointwise::addition, 800).value() == Approx(16));            // in proportion on both sides
    CHECK(table.seconds(Pointwise::addition, 50).value() == Approx(0.5));
    CHECK(table.seconds(Pointwise::addition, 0).value() == 0);
    CHECK_FALSE(table.seconds(Pointwise::softmax, 100));
    CHECK_THROWS_AS(PointwiseTable({{Pointwise::copy, 100, 2}, {Pointwise::copy, 200, 1}}), std::invalid_argument);
}

TEST_CASE("pointwise: every word is a kind of its own", "[memory]") {
    std::vector<Pointwise> seen;
    std::string words = pointwise_words() + ", ";
    for (std::size_t at = 0, comma = 0; (comma = words.find(", ", at)) != std::string::npos; at = comma + 2) {
        const auto kind = pointwise_kind(words.substr(at, comma - at));
        REQUIRE(kind);
        CHECK(std::find(seen.begin(), seen.end(), *kind) == seen.end());
        seen.push_back(*kind);
    }
    CHECK(seen.size() == 17);
    CHECK_FALSE(pointwise_kind("other"));
}

TEST_CASE("pointwise: on the H100 no kernel is faster than its memory, and larger ones take longer", "[memory]") {
    const Device device = shipped_device("h100-sxm");
    const KernelRates& rates = *device.kernels;
    std::mt19937 random(5);
    for (int kind = 0; kind <= static_cast<int>(Pointwise::optimizer); ++kind)
        for (int i = 0; i < 200; ++i) {
            const double bytes = std::pow(10, std::uniform_real_distribution(3.0, 12.0)(random));
            const double more = bytes * std::uniform_real_distribution(1.0, 3.0)(random);
            const auto one = static_cast<Pointwise>(kind);
            CAPTURE(kind, bytes, more);
            const double seconds = rates.pointwise_s(one, bytes) - rates.fixed_s;
            CHECK(seconds >= bytes / device.memory_Bps);
            CHECK(seconds <= 9 * bytes / rates.memory_Bps);  // the slowest, an embedding's gradient, sorts the tokens
            CHECK(rates.pointwise_s(one, more) >= rates.pointwise_s(one, bytes));
        }
    CHECK(rates.pointwise_s(Pointwise::other, 2.97e12) == Approx(1).epsilon(1e-5));
}

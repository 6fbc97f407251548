#include "sim/explore/halving.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/catch.hpp"
#include "tests/unit/factorial.hpp"

// The search on landscapes whose best point is known.

using namespace syncline::batch;
using syncline::test::factorial;

namespace {

std::vector<std::size_t> numbers(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// Ranks by a value for each rung and point, and counts evaluations.
struct Landscape {
    std::function<double(std::size_t rung, std::size_t point)> value;
    std::size_t evaluated = 0;

    std::vector<std::size_t> search(std::vector<std::size_t> order, const std::vector<std::size_t>& sizes) {
        return successive_halving(
            std::move(order), sizes, [this](std::size_t rung, const std::vector<std::size_t>& in) {
                evaluated += in.size();
                std::vector<std::size_t> points = in;
                std::stable_sort(points.begin(), points.end(),
                                 [&](std::size_t a, std::size_t b) { return value(rung, a) < value(rung, b); });
                return points;
            });
    }
};

}  // namespace

TEST_CASE("rungs halve and spend exactly the budget, for every budget", "[memory]") {
    CHECK(rung_sizes(100, 1, 30) == std::vector<std::size_t>{30});
    CHECK(rung_sizes(100, 2, 30) == std::vector<std::size_t>{20, 10});
    CHECK(rung_sizes(100, 3, 70) == std::vector<std::size_t>{40, 20, 10});
    CHECK(rung_sizes(100, 3, 2) == std::vector<std::size_t>{0, 0, 2});
    CHECK(rung_sizes(100, 3, 3) == std::vector<std::size_t>{0, 2, 1});
    for (std::size_t rungs = 1; rungs <= 4; ++rungs) {
        for (std::size_t budget = 1; budget <= 200; ++budget) {
            const auto sizes = rung_sizes(500, rungs, budget);
            CAPTURE(rungs, budget);
            CHECK(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) == budget);
            CHECK(sizes.back() > 0);
            for (std::size_t rung = 1; rung < rungs; ++rung) {
                if (sizes[rung - 1] == 0) continue;
                CHECK(sizes[rung] < sizes[rung - 1]);
                CHECK(std::abs(static_cast<double>(sizes[rung]) - static_cast<double>(sizes[rung - 1]) / 2) <= 1);
            }
        }
    }
    for (const std::size_t size : rung_sizes(5, 3, 100)) CHECK(size <= 5);
}

TEST_CASE("a cheap setting with the same ranking loses nothing", "[memory]") {
    constexpr std::size_t points = 97;
    const auto cost = [](std::size_t point) { return std::cos(37.0 * static_cast<double>(point)); };
    const auto before = [&](std::size_t a, std::size_t b) { return cost(a) < cost(b); };
    for (std::size_t budget = 1; budget < points; ++budget) {
        const auto sizes = rung_sizes(points, 3, budget);
        const auto first = *std::find_if(sizes.begin(), sizes.end(), [](std::size_t size) { return size > 0; });
        Landscape land{[&](std::size_t rung, std::size_t point) { return cost(point) * (rung == 2 ? 1 : 0.1); }};
        const auto ranked = land.search(numbers(points), sizes);
        CHECK(land.evaluated <= budget);
        CHECK(ranked.size() == sizes.back());
        auto shown = numbers(first);
        CHECK(ranked.front() == *std::min_element(shown.begin(), shown.end(), before));

        // If points are sorted by the objective beforehand, the best of all is found with any budget.
        auto order = numbers(points);
        std::sort(order.begin(), order.end(), before);
        CHECK(land.search(order, sizes).front() == order.front());
    }
}

TEST_CASE("a candidate that a cheap setting misjudges by less than half of the field is still found", "[memory]") {
    // The best point, 7, looks like the fourth of sixteen at the cheapest setting, and like the second at the next.
    Landscape land{[](std::size_t rung, std::size_t point) {
        const double seen[] = {3.5, 1.5, -1};
        return point == 7 ? seen[rung] : static_cast<double>(point);
    }};
    CHECK(land.search(numbers(16), {16, 8, 4}).front() == 7);
    CHECK(land.search(numbers(16), {16, 4, 2}).front() == 0);
}

TEST_CASE("a draw takes every value of every axis equally often", "[memory]") {
    const auto points = factorial({2, 3, 4});
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const auto order = spread_draw(points, points.size(), seed);
        CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == points.size());
        for (std::size_t count = 1; count <= points.size(); ++count) {
            const auto some = spread_draw(points, count, seed);
            CHECK(some == std::vector<std::size_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)));
            for (std::size_t axis = 0; axis < 3; ++axis) {
                std::vector<int> often(axis + 2, 0);
                for (const std::size_t point : some) ++often[points[point][axis]];
                const auto [least, most] = std::minmax_element(often.begin(), often.end());
                CAPTURE(seed, count, axis);
                CHECK(*most - *least <= 2);
                if (count == 4) CHECK(*most - *least <= 1);
            }
        }
    }
}

TEST_CASE("a draw depends only on its seed", "[memory]") {
    const auto points = factorial({5, 5, 5});
    CHECK(spread_draw(points, 20, 1) == spread_draw(points, 20, 1));
    CHECK(spread_draw(points, 20, 1) != spread_draw(points, 20, 2));
    CHECK(spread_draw({}, 20, 1).empty());
    CHECK(spread_draw({{}, {}, {}}, 2, 1).size() == 2);
    std::set<std::size_t> firsts;
    for (std::uint64_t seed = 0; seed < 200; ++seed) firsts.insert(spread_draw(points, 1, seed).front());
    CHECK(firsts.size() > 80);  // of 125, of which 200 draws leave out 25 on average
}

#include "sim/explore/pareto.hpp"

#include <algorithm>
#include <random>

#include "tests/catch.hpp"

// Compares the front with its definition, pair by pair.

using namespace syncline::batch;

namespace {

bool dominates(const Offer& a, const Offer& b) {
    return a.time <= b.time && a.cost <= b.cost && (a.time < b.time || a.cost < b.cost);
}

std::vector<std::size_t> by_definition(const std::vector<Offer>& offers) {
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        const auto better = [&](const Offer& other) { return dominates(other, offers[i]); };
        if (std::none_of(offers.begin(), offers.end(), better)) front.push_back(i);
    }
    return front;
}

}  // namespace

TEST_CASE("the front has the plans that no other plan beats in time and cost", "[memory]") {
    CHECK(pareto_front({}).empty());
    CHECK(pareto_front({{1, 1}}) == std::vector<std::size_t>{0});
    // The points are slow and cheap, fast and expensive, in between; slower and more expensive than that; as fast as
    // the first, but more expensive.
    CHECK(pareto_front({{9, 1}, {1, 9}, {4, 4}, {5, 5}, {9, 2}}) == std::vector<std::size_t>{1, 2, 0});
    // Among equal points all are on the front; a slower one at the same cost is not.
    CHECK(pareto_front({{2, 2}, {2, 2}, {3, 2}, {2, 2}}) == std::vector<std::size_t>{0, 1, 3});
    CHECK(pareto_front({{1, 0}, {2, 0}, {0, 0}, {0, 0}}) == std::vector<std::size_t>{2, 3});
}

TEST_CASE("the front equals the definition, sorted by time, with many ties and with none", "[memory]") {
    std::mt19937 random(1);
    for (const unsigned kinds : {1u, 3u, 10u, 100000u}) {
        for (std::size_t count = 1; count <= 60; ++count) {
            std::vector<Offer> offers;
            for (std::size_t i = 0; i < count; ++i)
                offers.push_back({static_cast<double>(random() % kinds), static_cast<double>(random() % kinds)});
            std::vector<std::size_t> front = pareto_front(offers);
            CHECK(std::is_sorted(front.begin(), front.end(),
                                 [&](std::size_t a, std::size_t b) { return offers[a].time < offers[b].time; }));
            std::sort(front.begin(), front.end());
            CHECK(front == by_definition(offers));
        }
    }
}

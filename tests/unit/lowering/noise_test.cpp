#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/config/scenario.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "sim/lowering/open_plan.hpp"
#include "sim/plan/noise.hpp"
#include "tests/catch.hpp"

// Draws of jitter and stragglers have the right distribution, and scenarios specify them.

using namespace syncline;

namespace {

constexpr std::uint32_t draws = 20000;

std::vector<double> factors(double jitter, std::uint64_t seed, std::uint32_t rank) {
    std::vector<double> result;
    for (std::uint32_t iteration = 0; iteration < draws; ++iteration)
        result.push_back(Pace{1, jitter, seed, rank}.factor(iteration));
    return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b, std::size_t shift = 0) {
    const auto count = static_cast<double>(a.size() - shift);
    double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
    for (std::size_t i = 0; i + shift < a.size(); ++i) {
        const double x = std::log(a[i]), y = std::log(b[i + shift]);
        sa += x, sb += y, saa += x * x, sbb += y * y, sab += x * y;
    }
    return (sab - sa * sb / count) / std::sqrt((saa - sa * sa / count) * (sbb - sb * sb / count));
}

std::vector<std::size_t> slow(const std::vector<Pace>& paces) {
    std::vector<std::size_t> result;
    for (std::size_t rank = 0; rank < paces.size(); ++rank)
        if (paces[rank].slowdown != 1) result.push_back(rank);
    return result;
}

struct Read {
    Plan plan;
    std::vector<Diagnostic> errors;
};

Read read(const std::string& keys) {
    config::Library library;
    const config::Node node = library.parse("t", "{ranks: 4, " + keys + "}", ".");
    Read result;
    config::read(
        node, "training",
        [&](config::Fields& fields) {
            OpenPlan open;
            describe(fields, result.plan, open);
        },
        result.errors);
    return result;
}

Plan plan_of(const std::string& keys) {
    const Read result = read(keys);
    for (const Diagnostic& error : result.errors) UNSCOPED_INFO(render(error));
    REQUIRE(result.errors.empty());
    return result.plan;
}

void refused(const std::string& keys, const std::string& message) {
    CAPTURE(keys);
    const Read result = read(keys);
    REQUIRE(result.errors.size() == 1);
    CHECK(result.errors[0].message.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("jitter is lognormal, with mean 1 and the given coefficient of variation", "[memory]") {
    for (const double c : {0.01, 0.2, 1.0}) {
        std::vector<double> drawn = factors(c, 3, 5);
        double sum = 0, squares = 0;
        for (const double factor : drawn) sum += factor, squares += factor * factor;
        const double mean = sum / draws;
        CAPTURE(c, mean);
        CHECK(std::abs(mean - 1) < 4 * c / std::sqrt(draws));
        CHECK(std::sqrt(squares / draws - mean * mean) / mean == Approx(c).epsilon(0.1));
        // The distance of Kolmogorov and Smirnov from the distribution function is above 1.63/√n once in a hundred
        // times.
        std::sort(drawn.begin(), drawn.end());
        const double sigma = std::sqrt(std::log(1 + c * c));
        double distance = 0;
        for (std::uint32_t i = 0; i < draws; ++i) {
            const double z = std::log(drawn[i]) / sigma + sigma / 2;
            const double below = std::erfc(-z / std::sqrt(2.0)) / 2;
            distance = std::max(distance, std::abs(below - (i + 0.5) / draws));
        }
        CHECK(distance < 1.63 / std::sqrt(draws));
    }
}

TEST_CASE("jitter of ranks, iterations and seeds is independent", "[memory]") {
    const double chance = 4 / std::sqrt(draws);
    const std::vector<double> one = factors(0.1, 1, 0);
    CHECK(std::abs(correlation(one, factors(0.1, 1, 1))) < chance);
    CHECK(std::abs(correlation(one, factors(0.1, 2, 0))) < chance);
    CHECK(std::abs(correlation(one, factors(0.1, 2, 1))) < chance);
    for (const std::size_t shift : {1u, 2u, 16u}) CHECK(std::abs(correlation(one, one, shift)) < chance);
    CHECK(one == factors(0.1, 1, 0));
}

TEST_CASE("ranks of a node share its jitter and have their own on top", "[memory]") {
    std::vector<double> own, shared, both, other_node;
    for (std::uint32_t iteration = 0; iteration < draws; ++iteration) {
        const double first = Pace{1, 0, 4, 0, 0.3, 2}.factor(iteration);
        CHECK(first == Pace{1, 0, 4, 1, 0.3, 2}.factor(iteration));
        shared.push_back(first);
        own.push_back(Pace{1, 0.2, 4, 2}.factor(iteration));  // the rank has the node's number
        other_node.push_back(Pace{1, 0, 4, 0, 0.3, 3}.factor(iteration));
        both.push_back(Pace{1, 0.2, 4, 2, 0.3, 2}.factor(iteration));
        CHECK(both.back() == Approx(own.back() * first).epsilon(1e-14));
    }
    const double chance = 4 / std::sqrt(draws);
    CHECK(std::abs(correlation(own, shared)) < chance);
    CHECK(std::abs(correlation(shared, other_node)) < chance);
    CHECK(std::abs(correlation(shared, shared, 1)) < chance);
    double sum = 0, squares = 0;
    for (const double factor : both) sum += factor, squares += factor * factor;
    const double mean = sum / draws, c = std::sqrt(1.04 * 1.09 - 1);
    CHECK(std::abs(mean - 1) < 4 * c / std::sqrt(draws));
    CHECK(std::sqrt(squares / draws - mean * mean) == Approx(c).epsilon(0.1));
}

TEST_CASE("latencies vary by message, connection and seed", "[memory]") {
    const auto of = [](std::uint64_t seed, std::uint32_t channel, std::uint32_t from, std::uint32_t to) {
        std::vector<double> all;
        for (std::uint64_t number = 0; number < draws; ++number)
            all.push_back(Lateness{0.4, seed}.factor(channel, from, to, number));
        return all;
    };
    const std::vector<double> one = of(1, 0, 3, 5);
    double sum = 0, squares = 0;
    for (const double factor : one) sum += factor, squares += factor * factor;
    const double mean = sum / draws;
    CHECK(std::abs(mean - 1) < 4 * 0.4 / std::sqrt(draws));
    CHECK(std::sqrt(squares / draws - mean * mean) == Approx(0.4).epsilon(0.1));
    const double chance = 4 / std::sqrt(draws);
    CHECK(one == of(1, 0, 3, 5));
    for (const std::vector<double>& other : {of(2, 0, 3, 5), of(1, 1, 3, 5), of(1, 0, 5, 3), of(1, 0, 3, 6)})
        CHECK(std::abs(correlation(one, other)) < chance);
    CHECK(std::abs(correlation(one, one, 1)) < chance);
    CHECK(Lateness{}.factor(0, 1, 2, 3) == 1);
}

TEST_CASE("without jitter a pace is exactly the slowdown", "[memory]") {
    for (const double slowdown : {1.0, 1.5, 0.1}) CHECK(Pace{slowdown, 0, 9, 9}.factor(7) == slowdown);
    CHECK(Pace{3, 0.1, 1, 2}.factor(4) == 3 * Pace{1, 0.1, 1, 2}.factor(4));
}

TEST_CASE("stragglers have the given number, every rank is one equally often, and larger numbers include smaller ones",
          "[memory]") {
    constexpr std::uint32_t ranks = 10;
    constexpr int seeds = 3000;
    std::vector<int> times(ranks, 0);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        std::vector<std::size_t> fewer;
        for (const std::int64_t count : {1, 3, 10}) {
            const std::vector<std::size_t> found = slow(paces({0, {count, {}, 2}, seed}, ranks));
            REQUIRE(found.size() == static_cast<std::size_t>(count));
            REQUIRE(std::includes(found.begin(), found.end(), fewer.begin(), fewer.end()));
            if (count == 3)
                for (const std::size_t rank : found) ++times[rank];
            fewer = found;
        }
    }
    // The expectation is 900, with a deviation of the root of 3000·0.3·0.7.
    for (const int often : times) CHECK(std::abs(often - 900) < 4 * 25.1);
    CHECK(slow(paces({0, {0, {7, 3}, 0.5}, 1}, ranks)) == std::vector<std::size_t>{3, 7});
    CHECK(slow(paces({}, ranks)).empty());
}

TEST_CASE("noise is read from scenarios", "[memory]") {
    CHECK(plan_of("jitter: 5 %").noise.jitter == Approx(0.05).epsilon(1e-15));
    CHECK(plan_of("jitter: 0.05").noise.jitter == 0.05);
    CHECK(plan_of("jitter: 100%").noise.jitter == 1);
    const Noise kinds = plan_of("jitter: {ranks: 5 %, nodes: 0.02, messages: 30%}").noise;
    CHECK(kinds.jitter == Approx(0.05).epsilon(1e-15));
    CHECK(kinds.node_jitter == 0.02);
    CHECK(kinds.message_jitter == Approx(0.3).epsilon(1e-15));
    for (const char* kind : {"ranks", "nodes", "messages"}) {
        const Noise one = plan_of(std::string("jitter: {") + kind + ": 2 %}").noise;
        CHECK(one.varies());
        CHECK(one.jitter + one.node_jitter + one.message_jitter == Approx(0.02).epsilon(1e-15));
        CHECK_FALSE(plan_of(std::string("jitter: {") + kind + ": none}").noise.any());
    }
    for (const char* none : {"jitter: 0", "jitter: {}", "stragglers: none", "iterations: 4"})
        CHECK(!plan_of(none).noise.any());
    const Stragglers drawn = plan_of("stragglers: {ranks: 2, slowdown: 1.5}").noise.stragglers;
    CHECK(drawn.count == 2);
    CHECK(drawn.ranks.empty());
    CHECK(drawn.slowdown == 1.5);
    CHECK(plan_of("stragglers: {ranks: [3, 0], slowdown: 0.5}").noise.stragglers.ranks ==
          std::vector<std::int64_t>{3, 0});
    CHECK(plan_of("stragglers: {ranks: 4, slowdown: 2}").noise.any());
    CHECK(plan_of("jitter: 1 %").noise.any());
    Plan plan;
    plan.set_seed(7);
    CHECK(plan.noise.seed == 7);
    CHECK(plan.placement.seed == 7);
}

TEST_CASE("invalid noise is refused", "[memory]") {
    refused("jitter: -1 %", "'jitter' is '-1 %', not a number from 0");
    refused("jitter: 5", "'jitter' is 5, which is above 100 %");
    refused("jitter: 101 %", "'jitter'");
    refused("jitter: {ranks: 5}", "'ranks' is 5, which is above 100 %");
    refused("jitter: {nodes: -1 %}", "'nodes' is '-1 %'");
    refused("jitter: {messages: fast}", "'messages' is 'fast', not a number");
    refused("jitter: {rank: 5 %}", "unknown key 'rank'");
    refused("jitter: [5 %]", "'jitter'");
    refused("stragglers: 2", "'stragglers'");
    refused("stragglers: {ranks: 2}", "slowdown");
    refused("stragglers: {slowdown: 2}", "ranks");
    refused("stragglers: {ranks: 0, slowdown: 2}", "'ranks'");
    refused("stragglers: {ranks: 2, slowdown: 0}", "'slowdown'");
    refused("stragglers: {ranks: 2, slowdown: -1}", "'slowdown'");
    refused("stragglers: {ranks: 5, slowdown: 2}", "5 stragglers exceed the number of ranks");
    refused("stragglers: {ranks: [1, 4], slowdown: 2}", "there is no rank 4");
    refused("stragglers: {ranks: [1, -1], slowdown: 2}", "'ranks'");
    refused("stragglers: {ranks: [1, 1], slowdown: 2}", "rank 1 is listed twice");
    refused("stragglers: {ranks: [], slowdown: 2}", "'ranks' has no items");
}

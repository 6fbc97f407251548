#include "sim/lowering/stage_division.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

using namespace syncline;

namespace {

double largest(const std::vector<double>& costs, const std::vector<std::int64_t>& lengths) {
    double most = 0;
    auto at = costs.begin();
    for (const std::int64_t length : lengths) {
        most = std::max(most, std::accumulate(at, at + length, 0.0));
        at += length;
    }
    return most;
}

/// Returns the first of the best cuts into non-empty parts, by enumeration in the order of their lengths.
std::vector<std::int64_t> best_of_all(const std::vector<double>& costs, std::uint32_t parts) {
    std::vector<std::int64_t> best, lengths;
    std::function<void(std::int64_t)> extend = [&](std::int64_t left) {
        if (lengths.size() + 1 == parts) {
            lengths.push_back(left);
            if (best.empty() || largest(costs, lengths) < largest(costs, best)) best = lengths;
            lengths.pop_back();
            return;
        }
        const auto behind = static_cast<std::int64_t>(parts - lengths.size() - 1);
        for (std::int64_t length = 1; length <= left - behind; ++length) {
            lengths.push_back(length);
            extend(left - length);
            lengths.pop_back();
        }
    };
    extend(static_cast<std::int64_t>(costs.size()));
    return best;
}

Pipeline interleaved(std::int64_t p, std::int64_t m, std::int64_t v) {
    return {p, m, v, PipelineSchedule::interleaved, {}};
}

/// Returns the times of a model with an embedding, `blocks` equal layers and a head, in units of a layer's forward
/// pass, whose gradients take as long each.
std::vector<PassTimes> language_model(std::size_t blocks, double head) {
    std::vector<PassTimes> layers(blocks + 2, {1, 1, 1});
    layers.front() = {0, 0, 0};
    layers.back() = {head, head, head};
    return layers;
}

double time_of(const Pipeline& pipeline, const std::vector<PassTimes>& layers,
               const std::vector<std::int64_t>& lengths) {
    std::vector<PassTimes> parts;
    std::size_t layer = 0;
    for (const std::int64_t length : lengths) {
        parts.emplace_back();
        for (std::int64_t i = 0; i < length; ++i) parts.back() += layers[layer++];
    }
    CHECK(layer == layers.size());
    return passes_s(pipeline, parts);
}

}  // namespace

TEST_CASE("passes of equal virtual stages take the time of the schedule's closed form", "[memory]") {
    const PassTimes part{2, 3, 1};  // 6 together
    for (std::int64_t p = 1; p <= 6; ++p) {
        CAPTURE(p);
        for (const std::int64_t m : {1, 2, 5, 12}) {
            // (m + p - 1) (f + b)
            const double expected = static_cast<double>(m + p - 1) * 6;
            const std::vector<PassTimes> parts(static_cast<std::size_t>(p), part);
            CHECK(passes_s({p, m, 1, PipelineSchedule::gpipe, {}}, parts) == Approx(expected));
            CHECK(passes_s({p, m, 1, PipelineSchedule::one_f_one_b, {}}, parts) == Approx(expected));
        }
        for (const std::int64_t v : {2, 3}) {
            // v m (f + b) + (p - 1) (f + b), with the times of a virtual stage
            const std::vector<PassTimes> parts(static_cast<std::size_t>(p * v), part);
            CHECK(passes_s(interleaved(p, 2 * p, v), parts) == Approx(static_cast<double>(v * 2 * p + p - 1) * 6));
        }
    }
    // Zero bubble, H1: m (f + b + w) + (p - 1) (f + b - w), if w is no longer than f.
    const std::vector<PassTimes> four(4, {2, 3, 2});
    CHECK(passes_s({4, 8, 1, PipelineSchedule::zero_bubble_h1, {}}, four) == Approx(8 * 7 + 3 * 3));
}

TEST_CASE("a head a little longer than a layer does not give the embedding a virtual stage of its own", "[memory]") {
    // 40 layers on 4 stages with 5 virtual stages each: 2 on each, and with the head the last one takes 3.1. If none
    // may take more than 3, the head has one layer beside it; the balanced division then makes the first ones short.
    const std::vector<PassTimes> layers = language_model(40, 1.1);
    std::vector<double> costs;
    for (const PassTimes& layer : layers) costs.push_back(layer.all());
    REQUIRE(balance(costs, 20).front() == 1);
    const Pipeline pipeline = interleaved(4, 16, 5);
    const std::vector<std::int64_t> lengths = divide(pipeline, layers);
    CHECK(lengths.front() > 1);
    CHECK(time_of(pipeline, layers, lengths) < time_of(pipeline, layers, balance(costs, 20)));
}

TEST_CASE("the chosen division is never slower than an even one", "[memory]") {
    std::mt19937 random(47);
    const auto number = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    for (int round = 0; round < 300; ++round) {
        const std::int64_t p = number(1, 6), v = number(1, 4), each = number(1, 5);
        const Pipeline pipeline = interleaved(p, p * number(1, 3), v);
        const auto layers =
            language_model(static_cast<std::size_t>(p * v * each), static_cast<double>(number(0, 40)) / 8);
        std::vector<std::int64_t> even(static_cast<std::size_t>(p * v), each);
        ++even.front();
        ++even.back();
        const std::vector<std::int64_t> lengths = divide(pipeline, layers);
        CAPTURE(p, v, each, layers.back().forward_s, lengths);
        REQUIRE(lengths.size() == even.size());
        CHECK(*std::ranges::min_element(lengths) >= 1);
        CHECK(time_of(pipeline, layers, lengths) <= time_of(pipeline, layers, even) * (1 + 1e-8));
    }
}

TEST_CASE("moves of layers relieve the slowest stage", "[memory]") {
    // Six layers on two stages with two virtual stages each: stage 0 has 1 + 1 layers, stage 1 has 1 + 3. A layer takes
    // 3 units in both directions, so 8 microbatches take at least 8 * 4 * 3 = 96, and 8 * 3 * 3 = 72 where both stages
    // have three. Until then a stage waits for one pass of the other, of at most two layers: 6.
    const std::vector<PassTimes> layers(6, {1, 1, 1});
    const Pipeline pipeline = interleaved(2, 8, 2);
    const std::vector<std::int64_t> uneven{1, 1, 1, 3};
    REQUIRE(time_of(pipeline, layers, uneven) >= 96);
    const std::vector<std::int64_t> lengths = moved(pipeline, layers, uneven);
    CHECK(lengths[0] + lengths[2] == 3);
    CHECK(lengths[1] + lengths[3] == 3);
    CHECK(time_of(pipeline, layers, lengths) <= 78);
}

TEST_CASE("moves of layers never make passes longer, and often shorter", "[memory]") {
    std::mt19937 random(48);
    const auto number = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    int shorter = 0;
    for (int round = 0; round < 100; ++round) {
        const std::int64_t p = number(2, 5), v = number(2, 4), m = p * number(1, 4);
        const auto layers =
            language_model(static_cast<std::size_t>(number(p * v, 4 * p * v)), static_cast<double>(number(0, 40)) / 8);
        const Pipeline pipeline = interleaved(p, m, v);
        const std::vector<std::int64_t> usual = divide(pipeline, layers);
        const std::vector<std::int64_t> lengths = moved(pipeline, layers, usual);
        CAPTURE(p, m, v, layers.size(), layers.back().forward_s, usual, lengths);
        REQUIRE(lengths.size() == usual.size());
        CHECK(*std::ranges::min_element(lengths) >= 1);
        CHECK(time_of(pipeline, layers, lengths) <= time_of(pipeline, layers, usual) * (1 + 1e-9));
        if (lengths == usual) continue;
        CHECK(time_of(pipeline, layers, lengths) < time_of(pipeline, layers, usual));
        ++shorter;
    }
    CHECK(shorter > 20);
}

TEST_CASE("a chain is cut as by trying all cuts, ties included", "[memory]") {
    std::mt19937 random(7);
    for (int round = 0; round < 600; ++round) {
        // Integers, including zero, whose sums are exact and often equal.
        std::vector<double> costs(1 + random() % 11);
        const unsigned most = 1 + random() % 8;
        for (double& cost : costs) cost = static_cast<double>(random() % (most + 1));
        for (std::uint32_t parts = 1; parts <= costs.size(); ++parts) {
            INFO(Catch::Detail::stringify(costs) << " in " << parts);
            REQUIRE(balance(costs, parts) == best_of_all(costs, parts));
        }
    }
}

TEST_CASE("one part has all layers, and as many parts as layers have one each", "[memory]") {
    for (const std::vector<double>& costs : {std::vector<double>{5}, {0, 0, 0}, {0.1, 0, 7, 1e-9}, {3, 2, 1}}) {
        CHECK(balance(costs, 1) == std::vector<std::int64_t>{static_cast<std::int64_t>(costs.size())});
        CHECK(balance(costs, static_cast<std::uint32_t>(costs.size())) == std::vector<std::int64_t>(costs.size(), 1));
    }
}

TEST_CASE("rounding decides no tie", "[memory]") {
    // Ten layers in four parts: one part has at least three layers, which leaves as few as one for the first. Sums of
    // three and four times 0.1, 0.7 or 1e-5 differ in their last digit depending on their position.
    for (const double cost : {1.0, 0.1, 0.7, 1e-5, 1e9 / 3}) {
        INFO(cost);
        CHECK(balance(std::vector<double>(10, cost), 4) == std::vector<std::int64_t>{1, 3, 3, 3});
        CHECK(balance(std::vector<double>(14, cost), 4) == std::vector<std::int64_t>{2, 4, 4, 4});
        // All parts except the first are full: 1000 = 248·4 + 8 in 249 or more parts, some of which have one layer.
        const auto many = balance(std::vector<double>(1000, cost), 256);
        std::vector<std::int64_t> expected(256, 4);
        std::fill_n(expected.begin(), 8, 1);
        CHECK(many == expected);
    }
}

TEST_CASE("a thousand layers in 256 parts fit, and no smaller limit would do") {
    std::mt19937 random(11);
    for (int round = 0; round < 20; ++round) {
        std::vector<double> costs(1000);
        for (double& cost : costs) cost = random() % 5 == 0 ? 0 : std::uniform_real_distribution<>(0, 1)(random);
        for (const std::uint32_t parts : {2u, 7u, 64u, 256u, 999u}) {
            const auto lengths = balance(costs, parts);
            REQUIRE(lengths.size() == parts);
            REQUIRE(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) == 1000);
            REQUIRE(*std::min_element(lengths.begin(), lengths.end()) >= 1);
            // Filling parts from the left up to a limit gives the minimum number of parts for that limit.
            const double limit = largest(costs, lengths) * (1 - 1e-8);
            std::size_t needed = 1;
            double held = 0;
            for (const double cost : costs) {
                if (cost > limit) needed = parts + 1;
                if (held + cost > limit) ++needed, held = 0;
                held += cost;
            }
            REQUIRE(needed > parts);
        }
    }
}

TEST_CASE("chains that cannot be cut are refused", "[memory]") {
    CHECK_THROWS_AS(balance({1, 2}, 3), std::logic_error);
    CHECK_THROWS_AS(balance({1, 2}, 0), std::logic_error);
    CHECK_THROWS_AS(balance({}, 1), std::logic_error);
    CHECK_THROWS_AS(balance({1, -1}, 1), std::logic_error);
    CHECK_THROWS_AS(balance({1, std::numeric_limits<double>::quiet_NaN()}, 1), std::logic_error);
    CHECK_THROWS_AS(balance({1, std::numeric_limits<double>::infinity()}, 1), std::logic_error);
}

#include <cmath>
#include <utility>
#include <vector>

#include "sim/analysis/slowest.hpp"
#include "sim/taskgraph/pace.hpp"
#include "tests/catch.hpp"

// The expected time of the slowest rank, compared with moments that have closed forms, and with the density of the
// largest order statistic.

using namespace syncline;

namespace {

std::vector<RankTime> equal(std::uint32_t ranks, double seconds = 1, std::uint32_t per_node = 1) {
    std::vector<RankTime> all;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) all.push_back({seconds, rank / per_node});
    return all;
}

double below(double z) {
    return std::erfc(-z / std::sqrt(2.0)) / 2;
}

/// Returns E[max of n lognormals of mean 1] by the trapezoidal rule over the density n φ(z) Φ(z)^(n-1).
double largest_of(double n, double c) {
    const double sigma = std::sqrt(std::log1p(c * c)), step = 1e-3;
    double sum = 0;
    for (double z = -12; z < 16; z += step)
        sum += n * std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0)) * std::pow(below(z), n - 1) * step *
               std::exp(sigma * z - sigma * sigma / 2);
    return sum;
}

/// Returns E[max] of two independent lognormals of means a and b (W. Margrabe, "The value of an option to exchange one
/// asset for another", The Journal of Finance 33(1), 1978).
double larger_of(double a, double b, double c) {
    const double s = std::sqrt(2 * std::log(1 + c * c));
    return a * below(std::log(a / b) / s + s / 2) + b * below(std::log(b / a) / s + s / 2);
}

}  // namespace

TEST_CASE("one rank is as slow as planned on average, and so are ranks without jitter", "[memory]") {
    for (const double c : {0.0, 0.01, 0.3, 1.0})
        for (const double node : {0.0, 0.02, 0.9}) {
            CAPTURE(c, node);
            CHECK(expected_slowest_s(equal(1, 3.5), c, node) == Approx(3.5).epsilon(1e-9));
        }
    CHECK(expected_slowest_s({{2, 0}, {3, 0}, {1, 1}}, 0, 0) == Approx(3).epsilon(1e-15));
    CHECK(expected_slowest_s({{0, 0}, {0, 1}}, 0.1, 0.1) == 0);
}

TEST_CASE("the expected slowest of N equal ranks is the mean of the largest order statistic", "[memory]") {
    for (const double c : {0.005, 0.05, 0.5, 1.0})
        for (const std::uint32_t n : {2u, 3u, 7u, 64u, 1000u, 100'000u}) {
            CAPTURE(c, n);
            CHECK(expected_slowest_s(equal(n, 2), c, 0) == Approx(2 * largest_of(n, c)).epsilon(1e-8));
        }
}

TEST_CASE("the slower of two different ranks has the mean of an exchange option", "[memory]") {
    for (const double c : {0.02, 0.3, 1.0})
        for (const double slower : {1.0, 1.1, 1.5, 20.0}) {
            CAPTURE(c, slower);
            CHECK(expected_slowest_s({{1, 0}, {slower, 0}}, c, 0) == Approx(larger_of(1, slower, c)).epsilon(1e-9));
            CHECK(expected_slowest_s({{1, 0}, {slower, 1}}, 0, c) == Approx(larger_of(1, slower, c)).epsilon(1e-9));
        }
}

TEST_CASE("factors that ranks of a node share") {
    for (const double c : {0.004, 0.1, 0.7})
        for (const double node : {0.003, 0.1, 0.8}) {
            CAPTURE(c, node);
            // On a single node the shared factor is independent of the maximum and has mean 1.
            CHECK(expected_slowest_s(equal(7, 1, 7), c, node) == Approx(largest_of(7, c)).epsilon(1e-8));
            // With one rank on each node the two factors are one lognormal: 1 + c² multiply.
            const double both = std::sqrt((1 + c * c) * (1 + node * node) - 1);
            CHECK(expected_slowest_s(equal(5), c, node) == Approx(largest_of(5, both)).epsilon(1e-8));
            // Shared factors make ranks alike, so that the slowest is less slow than with factors of their own.
            const double shared = expected_slowest_s(equal(16, 1, 4), c, node);
            CHECK(shared < expected_slowest_s(equal(16), c, node));
            CHECK(shared > expected_slowest_s(equal(4, 1, 4), c, node));
            CHECK(shared > expected_slowest_s(equal(16), c, 0));
        }
    CHECK(expected_slowest_s(equal(24, 1, 8), 0, 0.2) == Approx(largest_of(3, 0.2)).epsilon(1e-9));
}

TEST_CASE("variations of very different size") {
    for (double least = 1e-17; least < 0.01; least *= 10)
        for (const double other : {0.0, 0.02, 0.5}) {
            CAPTURE(least, other);
            for (const auto& [c, node] : {std::pair(least, other), std::pair(other, least)}) {
                CHECK(expected_slowest_s({{3.5, 0}}, c, node) == Approx(3.5).epsilon(1e-9));
                CHECK(expected_slowest_s({{3.5, 0}, {0, 1}}, c, node) == Approx(3.5).epsilon(1e-9));
            }
            // On a single node the factor that ranks share has mean 1.
            CHECK(expected_slowest_s(equal(8, 2, 8), least, other) == Approx(2 * largest_of(8, least)).epsilon(1e-8));
            // A rank of half the time is never the slowest.
            CHECK(expected_slowest_s({{2, 0}, {1, 0}}, least, other) == Approx(2).epsilon(1e-8));
        }
}

TEST_CASE("waiting for the slowest grows with the number of ranks and approaches the asymptotic form", "[memory]") {
    const double c = 0.05, sigma = lognormal_sigma(c), pi = std::acos(-1.0);
    CHECK(sigma == Approx(std::sqrt(std::log(1.0025))).epsilon(1e-12));
    double before = 1;
    for (const std::uint32_t n : {2u, 10u, 100u, 10'000u, 1'000'000u}) {
        const double slowest = expected_slowest_s(equal(n), c, 0);
        CHECK(slowest > before);
        before = slowest;
        if (n < 100) continue;
        const double root = std::sqrt(2 * std::log(n));
        const double b = root - (std::log(std::log(n)) + std::log(4 * pi)) / (2 * root);
        // The error of the mean is of the order σ/b.
        CHECK(std::abs(slowest / std::exp(sigma * b - sigma * sigma / 2) - 1) < sigma / b);
    }
}

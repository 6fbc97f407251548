#include <cmath>
#include <utility>

#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"
#include "tests/replay/training_worlds.hpp"

// Ranks that compute more slowly than planned, compared with times by hand and with the mean of a maximum.

using namespace syncline;
using namespace syncline::test;

namespace {

/// Returns a plan for ranks whose exchange of one layer of 4 kB follows the computation: 1 ms each way.
Plan behind(std::int64_t ranks) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    plan.overlap = Overlap::none;
    plan.algorithm.name = "ring";
    return plan;
}

Model one_layer(std::int64_t bytes) {
    Model model;
    model.layers = {layer_of(bytes, 1000)};
    return model;
}

constexpr double compute_s = 2e-3;  // of that layer, whose input needs no gradient
constexpr double no_time_Bps = 1e18;

/// Returns mean and variance of the largest of n independent lognormals of mean 1 and coefficient of variation c, by
/// the trapezoidal rule over z, of which they are functions: density n φ(z) Φ(z)^(n-1).
std::pair<double, double> largest_of(int n, double c) {
    const double sigma = std::sqrt(std::log(1 + c * c)), step = 1e-3;
    double first = 0, second = 0;
    for (double z = -10; z < 14; z += step) {
        const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0));
        const double below = std::erfc(-z / std::sqrt(2.0)) / 2;
        const double weight = n * density * std::pow(below, n - 1) * step;
        const double x = std::exp(sigma * z - sigma * sigma / 2);
        first += weight * x;
        second += weight * x * x;
    }
    return {first, second - first * first};
}

}  // namespace

TEST_CASE("one straggler slows down the computation of all ranks by its factor, and no exchange") {
    const Model model = one_layer(4'000'000);
    const Cluster cluster = plain_star(1e9, 2e-6);
    // 6 messages of 2 us and a quarter of 4 MB each.
    const double exchange_s = 6 * (2e-6 + 1e-3);
    // The straggler is the last to enter the ring, and begins its next iteration before others. A path from its entry
    // to its exit, which starts with its own first message or with the one that waits for it, has at most 5 hops in 6
    // steps, so that 5 of the latencies count.
    const double latencies_saved_s = 2e-6;
    for (const double slowdown : {1.0, 1.25, 3.0, 40.0}) {
        for (const bool drawn : {true, false}) {
            CAPTURE(slowdown, drawn);
            Plan plan = behind(4);
            plan.noise.stragglers = {1, {}, slowdown};
            if (!drawn) plan.noise.stragglers = {0, {2}, slowdown};
            const Result result = simulate(lower(cluster, model, plan));
            const double saved_s = slowdown > 1 ? latencies_saved_s : 0;
            CHECK(result.time.iteration_s == Approx(slowdown * compute_s + exchange_s - saved_s).epsilon(1e-9));
            CHECK(result.time.drift < 1e-9);
            Cluster textbook = cluster;
            textbook.latency = Latency::blocking;
            CHECK(simulate(lower(textbook, model, plan)).time.iteration_s ==
                  Approx(slowdown * compute_s + exchange_s).epsilon(1e-9));
            // A single rank is not affected.
            CHECK(result.scaling_efficiency.value() == Approx(compute_s / result.time.iteration_s).epsilon(1e-9));
            CHECK(!result.closed_form.iteration_time_s);
            CHECK(result.closed_form.communication_time_s.value() == Approx(exchange_s).epsilon(1e-9));
        }
    }
    // No rank waits for a faster one; all of them are.
    Plan plan = behind(4);
    plan.noise.stragglers = {1, {}, 0.5};
    CHECK(simulate(lower(cluster, model, plan)).time.iteration_s == Approx(compute_s + exchange_s).epsilon(1e-9));
    plan.noise.stragglers = {4, {}, 0.5};
    CHECK(simulate(lower(cluster, model, plan)).time.iteration_s == Approx(compute_s / 2 + exchange_s).epsilon(1e-9));
    CHECK(simulate(lower(cluster, model, plan)).time.compute_s == Approx(compute_s / 2).epsilon(1e-9));
}

TEST_CASE("with jitter an iteration takes the mean of the largest of N factors") {
    constexpr int iterations = 1000;
    const Model model = one_layer(4);
    for (const double c : {0.05, 0.5}) {
        for (const int ranks : {1, 2, 8}) {
            Plan plan = behind(ranks);
            plan.noise.jitter = c;
            plan.iterations = iterations + 1;
            const Result result = simulate(lower(plain_star(no_time_Bps, 0), model, plan));
            const auto [mean, variance] = largest_of(ranks, c);
            const double error = std::sqrt(variance / iterations);
            CAPTURE(c, ranks, mean, error);
            CHECK(std::abs(result.time.iteration_s / compute_s - mean) < 4 * error);
            // The estimate of that error is itself an estimate from this number of draws.
            CHECK(result.time.standard_error == Approx(error / mean).epsilon(0.25));
            CHECK(result.time.drift == 0);
            CHECK(result.scaling_efficiency.value() == Approx(compute_s / result.time.iteration_s).epsilon(1e-9));
            CHECK(!result.closed_form.iteration_time_s);
        }
    }
}

TEST_CASE("jitter multiplies a straggler's time, and draws depend only on the seed") {
    const auto iteration_s = [](std::uint64_t seed, double slowdown, std::int64_t ranks = 1) {
        Plan plan = behind(ranks);
        plan.noise = {0.2, {1, {}, slowdown}, seed};
        plan.iterations = 30;
        return simulate(lower(plain_star(no_time_Bps, 0), one_layer(4), plan)).time.iteration_s;
    };
    CHECK(iteration_s(1, 3) == Approx(3 * iteration_s(1, 1)).epsilon(1e-9));
    CHECK(iteration_s(5, 1, 4) == iteration_s(5, 1, 4));
    CHECK(iteration_s(5, 1, 4) != iteration_s(6, 1, 4));
}

TEST_CASE("a straggler's push to a parameter server has the link to itself") {
    // 1 MB to one server: two concurrent pushes take 2 us and 2 ms, a single one 2 us and 1 ms; pulls run concurrently.
    Plan plan = behind(2);
    plan.exchange = ExchangeKind::parameter_server;
    const Model model = one_layer(1'000'000);
    const Cluster cluster = plain_star(1e9, 2e-6);
    CHECK(simulate(lower(cluster, model, plan)).time.iteration_s == Approx(compute_s + 4.004e-3).epsilon(1e-9));
    plan.noise.stragglers = {1, {}, 3};
    CHECK(simulate(lower(cluster, model, plan)).time.iteration_s == Approx(3 * compute_s + 3.004e-3).epsilon(1e-9));
    plan.noise.jitter = 0.1;
    plan.iterations = 20;
    const double noisy_s = simulate(lower(cluster, model, plan)).time.iteration_s;
    CHECK(noisy_s == Approx(3 * compute_s + 3.004e-3).epsilon(0.1));
    CHECK(noisy_s != Approx(3 * compute_s + 3.004e-3).epsilon(1e-6));
}

TEST_CASE("a pipeline runs at the pace of its slowest stage") {
    // Forward and backward passes are alike: the first micro-batch passes through all stages, the others leave the slow
    // stage one by one.
    for (const std::int64_t slow : {0, 1, 2}) {
        const Model model = plain_model(3, 0, 1);
        const Cluster cluster = timed_star(3, no_time_Bps, 0, model, {1, 1, 1}, {2, 2, 2});
        Plan plan;
        plan.ranks = 3;
        plan.batch_per_rank = 4;
        plan.compute = ComputeKind::measured;
        plan.algorithm.name = "ring";
        plan.parallelism.pipeline = {3, 4, 1, PipelineSchedule::gpipe, {}};
        plan.noise.stragglers = {0, {slow}, 1.5};
        CAPTURE(slow);
        CHECK(simulate(lower(cluster, model, plan)).time.iteration_s == Approx((2 + 4 * 1.5) * 3).epsilon(1e-9));
        plan.noise.jitter = 0.1;
        CHECK(simulate(lower(cluster, model, plan)).time.iteration_s == Approx((2 + 4 * 1.5) * 3).epsilon(0.2));
    }
}

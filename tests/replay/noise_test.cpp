#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/iteration/iteration.hpp"
#include "sim/lowering/feasibility.hpp"
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

TEST_CASE("one straggler slows down the computation of all ranks by its factor, and no exchange", "[memory]") {
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

TEST_CASE("with jitter an iteration takes the mean of the largest of N factors", "[memory]") {
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

TEST_CASE("over many seeds compute-bound iterations take the expected time of the slowest rank") {
    constexpr int seeds = 60, iterations = 25;
    Cluster cluster = plain_star(no_time_Bps, 0);
    cluster.node.devices = 3;
    cluster.node.link = {no_time_Bps, 0};
    const Model model = one_layer(4);
    for (const auto& [ranks, own, shared] : std::vector<std::tuple<std::int64_t, double, double>>{
             {1, 0.3, 0.2}, {2, 0.1, 0.0}, {7, 0.1, 0.0}, {7, 0.0, 0.2}, {9, 0.1, 0.2}, {20, 0.2, 0.05}}) {
        double sum = 0, squares = 0, expected_s = 0;
        for (int seed = 1; seed <= seeds; ++seed) {
            Plan plan = behind(ranks);
            plan.noise.jitter = own;
            plan.noise.node_jitter = shared;
            plan.iterations = iterations + 1;
            // Neighbouring seeds share draws: see validation::repeated_seed().
            plan.set_seed(static_cast<std::uint64_t>(seed) * 0x9e3779b97f4a7c15ULL);
            const Result result = simulate(lower(cluster, model, plan));
            sum += result.time.iteration_s;
            squares += result.time.iteration_s * result.time.iteration_s;
            expected_s = result.expected_slowest_s.value();
            CHECK(result.expected_slowest_factor.value() == Approx(expected_s / compute_s).epsilon(1e-12));
        }
        const double mean_s = sum / seeds, error_s = std::sqrt((squares / seeds - mean_s * mean_s) / (seeds - 1));
        CAPTURE(ranks, own, shared, mean_s, error_s, expected_s);
        CHECK(std::abs(mean_s - expected_s) < 4 * error_s);
        CHECK(error_s < 0.02 * mean_s);
        if (shared == 0)
            CHECK(expected_s == Approx(compute_s * largest_of(static_cast<int>(ranks), own).first).epsilon(1e-7));
    }
    CHECK_FALSE(simulate(lower(cluster, model, behind(4))).expected_slowest_s);
}

TEST_CASE("a straggler counts in the expected time of the slowest rank", "[memory]") {
    Plan plan = behind(3);
    plan.noise.jitter = 0.02;
    plan.noise.stragglers = {0, {1}, 10};
    const Result result = simulate(lower(plain_star(no_time_Bps, 0), one_layer(4), plan));
    CHECK(result.expected_slowest_factor.value() == Approx(10).epsilon(1e-6));
}

TEST_CASE("each message of a ring has its own latency", "[memory]") {
    // Two ranks, two steps without bytes that matter: a step ends when its message has arrived, in order of the steps.
    constexpr double alpha_s = 1e-3;
    for (const bool blocking : {false, true})
        for (const std::uint64_t seed : {1u, 2u, 3u}) {
            Plan plan = behind(2);
            plan.noise.message_jitter = 0.5;
            plan.set_seed(seed);
            plan.iterations = 1;
            Cluster cluster = plain_star(no_time_Bps, alpha_s);
            if (blocking) cluster.latency = Latency::blocking;
            const Lowered training = lower(cluster, one_layer(4), plan);
            const std::uint32_t channel = build_iteration(training).exchange(0).tag;
            const Lateness lateness{0.5, seed};
            std::array<double, 2> now{compute_s, compute_s};
            for (std::uint64_t step = 0; step < 2; ++step) {
                const double at_0 = now[1] + alpha_s * lateness.factor(channel, 1, 0, step);
                const double at_1 = now[0] + alpha_s * lateness.factor(channel, 0, 1, step);
                now = {std::max(now[0], at_0), std::max(now[1], at_1)};
                if (blocking) now[0] = now[1] = std::max(at_0, at_1);
            }
            CAPTURE(blocking, seed);
            const Result result = simulate(training);
            CHECK(result.time.iteration_s == Approx(std::max(now[0], now[1])).epsilon(1e-12));
            CHECK_FALSE(result.expected_slowest_s);
            CHECK(simulate(training).time.iteration_s == result.time.iteration_s);
        }
}

TEST_CASE("messages of varying latency are neither folded nor expected to repeat", "[memory]") {
    Plan plan = behind(8);
    plan.noise.message_jitter = 0.3;
    plan.fidelity = Fidelity::automatic;
    plan.iterations = 6;
    const Cluster cluster = plain_star(1e9, 1e-4);
    const Model model = one_layer(8'000);
    const Result noisy = simulate(lower(cluster, model, plan));
    CHECK(noisy.folded.messages_folded == 0);
    CHECK(noisy.folded.iterations_folded == 0);
    CHECK(noisy.folded.choice.why == "latencies of messages vary");
    CHECK(noisy.time.standard_error > 0);
    // Waiting for the latest of several messages takes longer than for messages in step.
    plan.noise = {};
    CHECK(noisy.time.iteration_s > simulate(lower(cluster, model, plan)).time.iteration_s);
    plan.noise.message_jitter = 0.3;
    plan.fidelity = Fidelity::folded;
    CHECK(settle(plan, {}).at(0).key == "fidelity");
    plan.fidelity = Fidelity::message;
    Cluster simgrid = cluster;
    simgrid.network = NetworkModel::LV08;
    CHECK(judge(simgrid, model, plan, {}).complaints.at(0).key == "jitter.messages");
    CHECK(judge(cluster, model, plan, {}).complaints.empty());
}

TEST_CASE("jitter multiplies a straggler's time, and draws depend only on the seed", "[memory]") {
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

TEST_CASE("a straggler's push to a parameter server has the link to itself", "[memory]") {
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

TEST_CASE("a pipeline runs at the pace of its slowest stage", "[memory]") {
    // Forward and backward passes are alike: the first microbatch passes through all stages, the others leave the slow
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

#include "sim/analysis/goodput.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/analysis/checkpoint_interval.hpp"
#include "sim/analysis/used_parts.hpp"
#include "tests/catch.hpp"

// Sampled runs with failures, beside Daly's closed form, arithmetic, and published trainings.

using namespace syncline;

namespace {

constexpr double minute = 60, hour = 3600, day = 24 * hour;
constexpr double never = std::numeric_limits<double>::infinity();

/// Returns the run of Daly's figures, 500 h with checkpoints of 5 min and restarts of 10 min, in iterations of 1 s.
InterruptedRun of_daly(double mtbf_s) {
    return {500 * hour, 1, std::round(daly_interval_s(5 * minute, mtbf_s)), 5 * minute, 0, 10 * minute, mtbf_s};
}

double expected_s(const InterruptedRun& run) {
    return expected_elapsed_s({run.useful_s(), run.interval_iterations * run.iteration_s, run.blocking_s,
                               run.background_s, run.restart_s, run.mtbf_s});
}

Goodput sampled(const InterruptedRun& run, std::uint64_t seed = 1) {
    const std::optional<Goodput> goodput = sample_goodput(run, seed);
    REQUIRE(goodput);
    return *goodput;
}

}  // namespace

TEST_CASE("goodput: the mean of sampled runs is Daly's expected time") {
    for (const auto& [mtbf_s, elapsed_h] : {std::pair{24 * hour, 547.9}, {6 * hour, 610.2}, {15 * minute, 2504.0}}) {
        CAPTURE(mtbf_s);
        const Goodput goodput = sampled(of_daly(mtbf_s));
        // The standard error of the mean of 1,000 runs is below 0.05 %.
        CHECK(goodput.mean.total_s() == Approx(elapsed_h * hour).epsilon(2.5e-3));
        CHECK(goodput.goodput() == Approx(500 / elapsed_h).epsilon(2.5e-3));
        // Failures come at any time.
        CHECK(goodput.mean.failures == Approx(elapsed_h * hour / mtbf_s).epsilon(0.02));
        CHECK(goodput.all_s.size() == sampled_runs);
    }
}

TEST_CASE("goodput: overlapped checkpoints, that are complete later, have a closed form, too") {
    for (const double background_s : {1 * minute, 7 * minute, 50 * minute})
        for (const double interval_s : {5 * minute, 30 * minute}) {
            CAPTURE(background_s, interval_s);
            const InterruptedRun run{500 * hour, 1, interval_s, 20, background_s, 10 * minute, 2 * hour};
            CHECK(sampled(run).mean.total_s() == Approx(expected_s(run)).epsilon(5e-3));
        }
}

TEST_CASE("goodput: no interval is better than Daly's") {
    for (const double mtbf_s : {24 * hour, 6 * hour}) {
        InterruptedRun run = of_daly(mtbf_s);
        const double best = run.interval_iterations, best_s = sampled(run).mean.total_s();
        for (const double factor : {0.4, 0.7, 1.4, 2.5}) {
            CAPTURE(mtbf_s, factor);
            run.interval_iterations = std::round(factor * best);
            CHECK(sampled(run).mean.total_s() > best_s);
        }
    }
}

TEST_CASE("goodput: the parts are the elapsed time, run by run and in the mean") {
    const Goodput goodput = sampled({1e5, 2, 300, 30, 700, 600, 5 * hour});
    CHECK(goodput.mean.useful_s == Approx(2e5).epsilon(1e-12));
    const double sum = std::accumulate(goodput.all_s.begin(), goodput.all_s.end(), 0.0);
    CHECK(goodput.mean.total_s() == Approx(sum / static_cast<double>(goodput.all_s.size())).epsilon(1e-12));
    CHECK(std::is_sorted(goodput.all_s.begin(), goodput.all_s.end()));
    CHECK(goodput.elapsed_s.p05 < goodput.elapsed_s.median);
    CHECK(goodput.elapsed_s.median < goodput.elapsed_s.p95);
}

TEST_CASE("goodput: the seed alone decides") {
    const InterruptedRun run = of_daly(6 * hour);
    CHECK(sampled(run, 7).all_s == sampled(run, 7).all_s);
    CHECK(sampled(run, 7).all_s != sampled(run, 8).all_s);
}

TEST_CASE("goodput: without failures a run takes its iterations and checkpoints, to the last digit") {
    const double iterations = 1234567, iteration_s = 0.123456789;
    const Goodput free = sampled({iterations, iteration_s, 1000, 0, 0, 600, never});
    CHECK(free.mean.total_s() == iterations * iteration_s);
    CHECK(free.all_s.front() == iterations * iteration_s);
    CHECK(free.all_s.back() == iterations * iteration_s);
    CHECK(free.all_s.size() == 1);  // nothing is random
    CHECK(free.mean.failures == 0);
    CHECK(free.goodput() == 1);
    // 10 iterations in intervals of 4, 4 and 2: the run ends with a checkpoint.
    CHECK(sampled({10, 1, 4, 3, 0, 600, never}).mean.total_s() == 10 + 3 * 3);
    // With 6 s in the background, the second waits for 2 s, the last for 4 s, and then the run for the last.
    const Goodput overlapped = sampled({10, 1, 4, 3, 6, 600, never});
    CHECK(overlapped.mean.total_s() == 10 + 3 * 3 + 2 + 4 + 6);
    CHECK(overlapped.mean.checkpoints_s == 3 * 3 + 2 + 4 + 6);
    CHECK(sampled({1, 1, 4, 3, 6, 600, never}).mean.total_s() == 1 + 3 + 6);  // less than an interval
}

TEST_CASE("goodput: checkpoints that take no time are taken after each iteration") {
    const InterruptedRun run{1e5, 10, 1, 0, 0, 10 * minute, 6 * hour};
    const Goodput goodput = sampled(run);
    CHECK(goodput.mean.checkpoints_s == 0);
    CHECK(goodput.mean.total_s() == Approx(expected_s(run)).epsilon(5e-3));
    // A failure costs half an iteration, and the restart, with those that fail.
    CHECK(goodput.mean.lost_s < goodput.mean.failures * 10);
}

TEST_CASE("goodput: a run that would not end is found at once") {
    const auto start = std::chrono::steady_clock::now();
    CHECK(!sample_goodput({1e6, 1, 60, 300, 0, 600, 30}, 1));  // restarts fail
    CHECK(!sample_goodput({1e6, 1, 3600, 0, 0, 0, 100}, 1));   // intervals fail
    CHECK(!sample_goodput({1e6, 1, 60, 0, 5000, 0, 100}, 1));  // writing fails
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
    // Below the restart and the checkpoint, but it ends: T = M e^(R/M) (e^((t+d)/M) - 1) Ts/t.
    const InterruptedRun slow{1000, 1, 10, 20, 0, 100, 30};
    CHECK(sampled(slow).mean.total_s() == Approx(expected_s(slow)).epsilon(0.02));
}

TEST_CASE("goodput: a thousand runs take far less than a minute") {
    const auto start = std::chrono::steady_clock::now();
    // Llama 3's 54 days with a failure every 3 h.
    sampled({54 * day, 1, 250, 3, 0, 10 * minute, 3.09 * hour});
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("goodput: published rates give published times between failures") {
    // A. Kokolis et al., arXiv 2410.21680: 6.50 failures per 1,000 node-days of RSC-1; projected for 16,384 and
    // 131,072.
    const PartFailures rsc{.node_s = 1000 / 6.5 * day};
    CHECK(mtbf_s(rsc, {16384, 16384 / 8}) == Approx(1.8 * hour).epsilon(0.01));
    CHECK(mtbf_s(rsc, {131072, 131072 / 8}) == Approx(0.23 * hour).epsilon(0.03));
    // 419 interruptions of Llama 3 in 54 days on 2048 nodes; FT-HSDP's 18 min for 100,000 GPUs, arXiv 2602.00277.
    const PartFailures llama{.node_s = 264 * day};
    CHECK(54 * day / mtbf_s(llama, {16384, 2048}) == Approx(419).epsilon(1e-3));
    CHECK(mtbf_s(rsc, {100'000, 12'500}) == Approx(18 * minute).epsilon(0.02));
    // The sum over all parts; parts without a rate do not fail.
    const PartFailures all{.device_s = 100, .node_s = 200, .switch_s = 300, .link_s = 400};
    CHECK(mtbf_s(all, {8, 1, 3, 4}) == Approx(1 / (8.0 / 100 + 1.0 / 200 + 3.0 / 300 + 4.0 / 400)));
    CHECK(mtbf_s({}, {8, 1, 3, 4}) == never);
}

namespace {

/// Returns a run of many hours whose checkpoints and restarts take no time, with a failure each hour.
InterruptedRun of_repairs(double repair_s, std::int64_t spares = 0) {
    InterruptedRun run{4000 * hour, 1, 1, 0, 0, 0, hour};
    run.repair_s = repair_s;
    run.spares = spares;
    return run;
}

double factorial(int n) {
    return std::tgamma(n + 1.0);
}

}  // namespace

TEST_CASE("goodput: repairs that are shorter than restarts cost nothing") {
    InterruptedRun run = of_daly(6 * hour);
    const Goodput without = sampled(run);
    run.repair_s = 0.99 * run.restart_s;
    run.without = [](std::int64_t) { return TrainingPace{2, 1, 0}; };
    const Goodput repaired = sampled(run);
    CHECK(repaired.all_s == without.all_s);
    CHECK(repaired.mean.slower_s == 0);
    // Those that are longer do.
    run.repair_s = 20 * run.restart_s;
    CHECK(sampled(run).mean.slower_s > 0);
}

TEST_CASE("goodput: without spare nodes each failure adds the time of a repair") {
    InterruptedRun run = of_daly(6 * hour);
    const ElapsedParts without = sampled(run).mean;
    run.repair_s = 5 * hour;
    const ElapsedParts waiting = sampled(run).mean;
    CHECK(waiting.failures == without.failures);  // nothing fails while the run waits
    CHECK(waiting.waiting_s == Approx(waiting.failures * 5 * hour).epsilon(1e-9));
    CHECK(waiting.total_s() - waiting.waiting_s == Approx(without.total_s()).epsilon(1e-9));
    CHECK(waiting.total_s() == Approx(expected_s(run) * (1 + 5.0 / 6)).epsilon(5e-3));
}

TEST_CASE("goodput: with spare nodes the run waits for Erlang's share of the time") {
    // Of one server, a / (1 + a); of two, a²/2 / (1 + a + a²/2).
    CHECK(erlang_loss(0, 3) == Approx(3.0 / 4));
    CHECK(erlang_loss(1, 3) == Approx(4.5 / (1 + 3 + 4.5)));
    CHECK(erlang_loss(5, 0) == 0);
    for (const std::int64_t spares : {1, 3, 6}) {
        CAPTURE(spares);
        const ElapsedParts parts = sampled(of_repairs(3 * hour, spares)).mean;
        CHECK(parts.waiting_s / parts.total_s() == Approx(erlang_loss(spares, 3)).epsilon(0.01));
        CHECK(parts.slower_s == 0);
    }
}

TEST_CASE("goodput: the number of broken nodes is Poisson's, and the mean speed that of all numbers") {
    // Four nodes are broken on average, two stand by, and each that lacks slows the training down.
    InterruptedRun run = of_repairs(4 * hour, 2);
    run.without = [](std::int64_t missing) { return TrainingPace{1 + 0.25 * static_cast<double>(missing), 1, 0}; };
    double speed = 0, fewer = 0;
    for (int broken = 0; broken < 60; ++broken) {
        const double probability = std::exp(-4.0) * std::pow(4.0, broken) / factorial(broken);
        speed += probability / (1 + 0.25 * std::max(0, broken - 2));
        fewer += broken > 2 ? probability : 0;
    }
    const ElapsedParts parts = sampled(run).mean;
    CHECK(parts.useful_s / parts.total_s() == Approx(speed).epsilon(3e-3));
    CHECK(parts.fewer_s / parts.total_s() == Approx(fewer).epsilon(3e-3));
    CHECK(parts.total_s() == Approx(parts.useful_s + parts.slower_s + parts.lost_s).epsilon(1e-12));
    CHECK(parts.lost_s <= parts.failures * 4);  // at most an iteration, which takes 4 s if 12 lack
}

TEST_CASE("goodput: parts fail as far as they run, and a training without enough nodes waits") {
    // Of four nodes none may lack but one: p(n) ~ Π λ(i) · R^n / n! with λ = 1, 3/4 per hour and 0 while it waits.
    InterruptedRun run = of_repairs(2 * hour);
    run.without = [](std::int64_t missing) {
        return missing == 1 ? std::optional(TrainingPace{4.0 / 3, 0.75, 0}) : std::nullopt;
    };
    const double one = 2, two = 0.75 * 2 * 2 / 2, all = 1 + one + two;
    const ElapsedParts parts = sampled(run).mean;
    CHECK(parts.waiting_s / parts.total_s() == Approx(two / all).epsilon(5e-3));
    CHECK(parts.useful_s / parts.total_s() == Approx((1 + 0.75 * one) / all).epsilon(5e-3));
    CHECK(parts.failures / (parts.total_s() / hour) == Approx((1 + 0.75 * one) / all).epsilon(5e-3));
}

TEST_CASE("goodput: energy above idle is that of all computed iterations") {
    InterruptedRun run = of_daly(6 * hour);
    run.above_idle_J = 5;
    const Goodput goodput = sampled(run);
    for (const ElapsedParts& parts : goodput.runs)
        REQUIRE(parts.above_idle_J == Approx(5 * (parts.useful_s + parts.lost_s)).epsilon(1e-9));
    CHECK(goodput.mean.lost_J == Approx(5 * goodput.mean.lost_s).epsilon(1e-9));
    run.mtbf_s = never;
    CHECK(sampled(run).mean.above_idle_J == Approx(5 * 500 * hour).epsilon(1e-12));
}

TEST_CASE("goodput: Llama 3's interruptions leave more than 90 % of the time") {
    // 419 in 54 days; "effective training time higher than 90 %": arXiv 2407.21783, section 3.3.4. Its checkpoints are
    // not published: assumed are 14 B of each of 405 billion parameters at the storage's 2 TB/s, and a restart of 10
    // min.
    const double mtbf_s = 54 * day / 419, checkpoint_s = 405e9 * 14 / 2e12;
    const auto goodput = [&](double interval_s, double restart_s) {
        return sampled({54 * day, 1, std::round(interval_s), checkpoint_s, 0, restart_s, mtbf_s}).goodput();
    };
    CHECK(goodput(daly_interval_s(checkpoint_s, mtbf_s), 10 * minute) > 0.92);
    CHECK(goodput(10 * minute, 10 * minute) > 0.9);
    // It would not with hourly checkpoints, which other clusters of Meta had, or restarts of 20 min.
    CHECK(goodput(60 * minute, 10 * minute) < 0.9);
    CHECK(goodput(daly_interval_s(checkpoint_s, mtbf_s), 20 * minute) < 0.9);
}

TEST_CASE("goodput: BLOOM's checkpoints take 0.37 % of the time") {
    // BigScience's chronicles: 2.3 TB in 40 s (57.5 GB/s), every three hours.
    const double write_s = 2.3e12 / 57.5e9;
    const ElapsedParts parts = sampled({10'000, 10.8, 1000, write_s, 0, 0, never}).mean;
    CHECK(parts.checkpoints_s / parts.total_s() == Approx(0.0037).epsilon(0.01));
}

TEST_CASE("goodput: with a failure every 18 min and restarts of 10 min") {
    // arXiv 2602.00277: 44 % effective at 100,000 GPUs. This is 1 - 10/18, where no restart fails and nothing is lost.
    // With failures during restarts, e^(-10/18) = 57.4 % is left without lost work, and 44 % if checkpoints are 9 min
    // apart.
    const auto goodput = [](double interval_s) {
        return sampled({300 * hour, 1, interval_s, 0, 0, 10 * minute, 18 * minute}).goodput();
    };
    CHECK(goodput(1) == Approx(std::exp(-10.0 / 18)).epsilon(2e-3));
    CHECK(goodput(9 * minute) == Approx(1 - 10.0 / 18).epsilon(0.02));
}

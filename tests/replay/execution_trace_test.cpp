#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/trace_experiment.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/explain/trace_explanation.hpp"
#include "sim/iteration/trace_graph.hpp"
#include "tests/catch.hpp"
#include "tests/replay/allreduce.hpp"
#include "tests/replay/scripted.hpp"

// Execution traces on a star of 1 GB/s with a latency of 10 us between hosts, worked out by hand: 1000 bytes take 1 us.

using namespace syncline;

namespace {

constexpr double us = 1e-6;
constexpr double L = 10 * us;

Cluster star(std::uint32_t ranks) {
    Cluster cluster = star_cluster(ranks, 1e9, L / 2);
    cluster.latency = Latency::travelling;
    return cluster;
}

/// A trace that is written node by node.
struct Written {
    explicit Written(std::uint32_t ranks) {
        trace.ranks = ranks;
        trace.names = {"node"};
        trace.operations = {"allreduce"};
        trace.groups.emplace_back();
        for (std::uint32_t rank = 0; rank < ranks; ++rank) trace.groups.front().push_back(rank);
        trace.eager_bytes = unlimited;
    }

    std::uint32_t add(TraceNode node, std::vector<std::uint32_t> after) { return trace.add(node, after); }
    std::uint32_t compute(std::uint32_t rank, double seconds, std::vector<std::uint32_t> after = {}) {
        return add({.kind = NodeKind::compute, .rank = rank, .stream = 0, .seconds = seconds}, std::move(after));
    }
    std::uint32_t host(std::uint32_t rank, double seconds, std::vector<std::uint32_t> after = {}) {
        return add({.kind = NodeKind::host, .rank = rank, .seconds = seconds}, std::move(after));
    }
    std::uint32_t allreduce(std::uint32_t rank, std::uint64_t bytes, std::vector<std::uint32_t> after = {}) {
        return add({.kind = NodeKind::collective, .rank = rank, .bytes = bytes}, std::move(after));
    }
    std::uint32_t send(std::uint32_t rank, std::uint32_t to, std::uint64_t bytes, std::vector<std::uint32_t> after = {},
                       std::uint32_t tag = 0) {
        return add({.kind = NodeKind::send, .rank = rank, .peer = to, .tag = tag, .bytes = bytes}, std::move(after));
    }
    std::uint32_t receive(std::uint32_t rank, std::uint32_t from, std::uint64_t bytes,
                          std::vector<std::uint32_t> after = {}, std::uint32_t tag = 0) {
        return add({.kind = NodeKind::receive, .rank = rank, .peer = from, .tag = tag, .bytes = bytes},
                   std::move(after));
    }

    TracePlan plan() const {
        trace.check();
        TracePlan plan;
        plan.trace = std::make_shared<const ExecutionTrace>(trace);
        return plan;
    }
    Result result() const { return simulate(star(trace.ranks), plan()); }
    double seconds() const { return result().time.iteration_s; }

    ExecutionTrace trace;
};

}  // namespace

TEST_CASE("a trace's message takes its time between the computations of two ranks", "[memory]") {
    Written two(2);
    const auto before = two.compute(0, 100 * us);
    two.send(0, 1, 50'000, {before});
    const auto got = two.receive(1, 0, 50'000);
    two.compute(1, 30 * us, {got});
    const Result result = two.result();
    CHECK(result.time.iteration_s == Approx(100 * us + 50 * us + L + 30 * us));
    CHECK(result.messages == 1);
    CHECK(result.bytes_sent == 50'000);
    CHECK(result.time.compute_s == Approx(30 * us));
}

TEST_CASE("a trace's ring of sends takes the time of the algorithm") {
    // Each step of a ring sends a block to the next rank once that of the step before has arrived.
    for (const std::uint32_t ranks : {2U, 3U, 5U, 8U}) {
        for (const std::uint64_t block : {1'000ULL, 40'000ULL}) {
            CAPTURE(ranks, block);
            Written ring(ranks);
            const std::uint32_t steps = 2 * (ranks - 1);
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                std::vector<std::uint32_t> arrived;
                for (std::uint32_t step = 0; step < steps; ++step) {
                    ring.send(rank, (rank + 1) % ranks, block, arrived);
                    arrived = {ring.receive(rank, (rank + ranks - 1) % ranks, block, arrived)};
                }
            }
            const Result result = ring.result();
            CHECK(result.time.iteration_s == Approx(steps * (L + static_cast<double>(block) * 1e-9)));
            CHECK(result.time.iteration_s ==
                  Approx(allreduce(star(ranks), ranks, 1, "ring", block * ranks).completion_time_s));
            CHECK(result.messages == ranks * steps);
            CHECK(result.bytes_sent == ranks * steps * block);
        }
    }
}

TEST_CASE("a trace's all-reduce begins with its last member and overlaps with computation", "[memory]") {
    constexpr std::uint32_t ranks = 4;
    constexpr std::uint64_t bytes = 400'000;
    const double ring_s = 6 * (L + 100 * us);  // 2(N-1) steps of a fourth
    Written trace(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const auto first = trace.compute(rank, (100 + 10 * rank) * us);
        trace.allreduce(rank, bytes, {first});
        trace.compute(rank, 200 * us, {first});
    }
    const Result result = trace.result();
    CHECK(result.time.iteration_s == Approx(130 * us + ring_s));
    CHECK(result.time.longest_compute_s == Approx(330 * us));
    CHECK(result.bytes_sent == 6 * bytes);  // 2(N-1)/N of the buffer from each of N ranks
}

TEST_CASE("a trace of one rank is repeated, and collectives are among all") {
    Written one(1);
    one.allreduce(0, 400'000, {one.compute(0, 100 * us)});
    for (const std::uint32_t ranks : {1U, 2U, 4U, 7U}) {
        TracePlan plan;
        plan.trace = std::make_shared<const ExecutionTrace>(one.trace.repeated(ranks));
        const double alone_s = allreduce(star(ranks), ranks, 1, "ring", 400'000).completion_time_s;
        CHECK(simulate(star(ranks), plan).time.iteration_s == Approx(100 * us + alone_s));
    }
    CHECK_THROWS_AS(Written(2).trace.repeated(4), TraceError);
}

TEST_CASE("the processor of a trace takes its time if asked to, and computation another speed") {
    Written one(1);
    const auto launch = one.host(0, 40 * us);
    const auto kernel = one.compute(0, 100 * us, {launch});
    one.compute(0, 100 * us, {one.host(0, 90 * us, {launch}), kernel});
    TracePlan plan = one.plan();
    CHECK(simulate(star(1), plan).time.iteration_s == Approx(200 * us));
    plan.host_time = true;
    CHECK(simulate(star(1), plan).time.iteration_s == Approx(240 * us));
    plan.speed = 4;  // of the device: now the second launch ends at 130 us, after the first kernel
    CHECK(simulate(star(1), plan).time.iteration_s == Approx(155 * us));
}

TEST_CASE("messages of a trace overtake each other, and wait for receivers only if they are large", "[memory]") {
    // The receiver takes the second message first, and the first one only after computing.
    Written late(2);
    late.send(0, 1, 10'000, {}, 1);
    late.send(0, 1, 10'000, {}, 2);
    const auto second = late.receive(1, 0, 10'000, {}, 2);
    late.receive(1, 0, 10'000, {late.compute(1, 500 * us, {second})}, 1);
    // Eager: both leave at once, at half the rate each.
    CHECK(late.seconds() == Approx(20 * us + L + 500 * us));
    // Else the first one leaves after the computation.
    late.trace.eager_bytes = 9'999;
    CHECK(late.seconds() == Approx(10 * us + L + 500 * us + 10 * us + L));
    late.trace.eager_bytes = 10'000;
    CHECK(late.seconds() == Approx(20 * us + L + 500 * us));
}

TEST_CASE("ranks of a trace that wait for each other's messages are an error") {
    Written stuck(2);
    stuck.trace.eager_bytes = 0;
    for (const std::uint32_t rank : {0U, 1U}) stuck.receive(rank, 1 - rank, 1'000, {stuck.send(rank, 1 - rank, 1'000)});
    CHECK_THROWS_WITH(stuck.seconds(), Catch::Matchers::EndsWith("without their receivers):\n"
                                                                 "  rank 0: node, to rank 1\n"
                                                                 "  rank 0: node, from rank 1\n"
                                                                 "  rank 1: node, to rank 0\n"
                                                                 "  rank 1: node, from rank 0"));
    stuck.trace.eager_bytes = unlimited;
    CHECK(stuck.seconds() == Approx(1 * us + L));
}

TEST_CASE("collectives of a trace that wait for each other are an error") {
    Written crossed(2);
    crossed.trace.groups.push_back({0, 1});
    const auto of_group = [&](std::uint32_t rank, std::uint32_t group, std::vector<std::uint32_t> after) {
        return crossed.add({.kind = NodeKind::collective, .rank = rank, .group = group, .bytes = 8}, std::move(after));
    };
    of_group(0, 1, {of_group(0, 0, {})});
    of_group(1, 0, {of_group(1, 1, {})});
    CHECK_THROWS_AS(build_trace(star(2), crossed.plan()), TraceError);
}

TEST_CASE("an algorithm that the transport selects for a trace, and that cannot be, is an error") {
    Written trace(2);
    for (const std::uint32_t rank : {0U, 1U}) trace.allreduce(rank, 8, {});
    Candidate hierarchical;
    hierarchical.algorithm.operation = "allreduce";
    hierarchical.algorithm.name = "hierarchical";
    Selection selection;
    selection.rows.emplace_back().candidates.push_back(hierarchical);
    Cluster cluster = star(2);
    cluster.transport.selection = std::make_shared<const Selection>(selection);
    CHECK_THROWS_WITH(build_trace(cluster, trace.plan()),
                      "allreduce among 2 ranks, as the platform's transport selects it: 'hierarchical' needs an "
                      "overlay of shape 'hierarchical'");
}

TEST_CASE("the explanation of a trace adds up, and its changes are those of other clusters") {
    Written trace(4);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        const auto first = trace.compute(rank, 300 * us);
        trace.allreduce(rank, 4'000'000, {first});
        trace.compute(rank, 100 * us, {first});
    }
    const TracePlan plan = trace.plan();
    ExplainOptions options;
    options.changes = {{"link:nic", 2}, {"device", 2}, {"batch", 2}};
    const Explanation explanation = explain_trace(star(4), plan, options);
    const double ring_s = 6 * (L + 1000 * us);
    CHECK(explanation.result.time.iteration_s == Approx(300 * us + ring_s));
    double path_s = 0;
    for (const PathPiece& piece : explanation.path) path_s += piece.end_s - piece.start_s;
    CHECK(path_s == Approx(explanation.window_s));
    for (const RankParts& rank : explanation.ranks) {
        CHECK(rank.compute_s == Approx(400 * us));
        CHECK(rank.sum_s() == Approx(explanation.window_s));
    }
    const auto after = [&](const char* change) {
        for (const WhatIf& one : explanation.what_if)
            if (one.change == change) return one.iteration_time_s.value_or(-1);
        return -2.0;
    };
    CHECK(after("link:nic x2") == Approx(300 * us + 6 * (L + 500 * us)));
    CHECK(after("device x2") == Approx(150 * us + ring_s));
    CHECK(after("batch x2") == -1);  // a trace has no samples
}

TEST_CASE("a trace's copies run beside computation, one at a time in each stream") {
    Written one(1);
    const auto copy = [&](std::uint32_t stream, double seconds) {
        return one.add({.kind = NodeKind::copy, .rank = 0, .stream = stream, .seconds = seconds}, {});
    };
    copy(1, 60 * us);
    copy(2, 80 * us);
    one.compute(0, 30 * us, {copy(1, 50 * us)});  // after both copies of stream 1
    one.compute(0, 100 * us);
    TracePlan plan = one.plan();
    // The first kernel waits for 110 us; the second one comes after it.
    const Result result = simulate(star(1), plan);
    CHECK(result.time.iteration_s == Approx(240 * us));
    CHECK(result.time.longest_compute_s == Approx(130 * us));
    CHECK(result.time.longest_copies_s == Approx(110 * us));
    plan.speed = 10;  // of the kernels, not of the copies
    CHECK(simulate(star(1), plan).time.iteration_s == Approx(123 * us));
}

TEST_CASE("a trace's messages and tasks are estimated before it is simulated") {
    Written trace(4);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        trace.allreduce(rank, 4'000, {trace.compute(rank, 10 * us)});
        trace.allreduce(rank, 4'000, {});
    }
    trace.send(0, 1, 100);
    trace.receive(1, 0, 100);
    // Two rings of 2(N-1) steps on each of 4 ranks, and one message; 4 computations, 8 shares in rings, 2 ends.
    const Work work = work_of(star(4), trace.plan());
    CHECK(work.messages == 49);
    CHECK(work.messages == static_cast<double>(trace.result().messages));
    CHECK(work.tasks == 14);
    CHECK(excess(estimate(star(4), trace.plan()), 1e9).empty());
    CHECK(estimate(star(4), trace.plan()).memory_bytes < 50e6);

    // 2 · 39,999 · 40,000 messages.
    constexpr std::uint32_t many = 40'000;
    Written large(many);
    for (std::uint32_t rank = 0; rank < many; ++rank) large.allreduce(rank, 4'000'000);
    CHECK_THAT(excess(estimate(star(many), large.plan()), 1e12),
               Catch::Matchers::ContainsSubstring("simulates about 3.2 billion messages, more than 2 billion"));
    CHECK(!excess(estimate(star(many), large.plan()), 50e6).empty());  // of memory: 500 B a node, 145 B a task
}

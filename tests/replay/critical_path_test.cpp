#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/explain/explain.hpp"
#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"

// The critical path of an iteration and its consequences: by hand, and by changing resources on and off the path.

using namespace syncline;
using namespace syncline::test;

namespace {

/// Returns `hosts` hosts around one switch, each with its own cable of 1 GB/s and 1 us.
Cluster star_of_cables(std::int64_t hosts) {
    Cluster cluster = plain_star(1e9, 1e-6);
    TopologySpec& fabric = cluster.fabric.topology;
    fabric.shape = Shape::graph;
    fabric.switches = {"s"};
    for (std::int64_t host = 0; host < hosts; ++host) fabric.edges.push_back({fmt::format("h{}", host), "s", {}});
    cluster.nodes = hosts;
    return cluster;
}

Model layers(const std::vector<std::int64_t>& bytes) {
    Model model;
    for (const std::int64_t one : bytes) {
        model.layers.push_back(layer_of(one, 1000));
        model.layers.back().name = fmt::format("layer{}", model.layers.size());
    }
    return model;
}

Plan plan_of(std::int64_t ranks) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    plan.overlap = Overlap::none;
    plan.algorithm.name = "ring";
    return plan;
}

double seconds_of(const Explanation& e, PathKind kind) {
    double sum_s = 0;
    for (const PathShare& share : e.shares)
        if (share.kind == kind) sum_s += share.seconds;
    return sum_s;
}

}  // namespace

TEST_CASE("critical path: in a ring after computation it has each step's transfer, latency and reduction", "[memory]") {
    for (const std::int64_t ranks : {2, 3, 5, 8}) {
        CAPTURE(ranks);
        const Cluster cluster = plain_star(1e9, 1e-6);
        const double bytes = 1e6 * static_cast<double>(ranks);
        const Explanation e = explain(lower(cluster, layers({static_cast<std::int64_t>(bytes)}), plan_of(ranks)));
        const double steps = 2.0 * static_cast<double>(ranks - 1);
        CHECK(seconds_of(e, PathKind::transfer) == Approx(steps * 1e-3).epsilon(1e-9));
        CHECK(seconds_of(e, PathKind::latency) == Approx(steps * 1e-6).epsilon(1e-9));
        CHECK(seconds_of(e, PathKind::compute) == Approx(e.result.time.compute_s).epsilon(1e-9));
        CHECK(seconds_of(e, PathKind::waiting) == 0);
        CHECK(e.uncontended_time_s == Approx(e.result.time.iteration_s).epsilon(1e-9));
        for (const LinkParts& link : e.links) CHECK(link.lost_s == 0);
    }
}

TEST_CASE("critical path: a straggler is on it, and the others wait for it", "[memory]") {
    Plan plan = plan_of(4);
    plan.noise.stragglers.ranks = {2};
    plan.noise.stragglers.slowdown = 3;
    const Explanation e = explain(lower(plain_star(1e9, 1e-6), layers({4'000'000}), plan));
    for (const PathPiece& piece : e.path) {
        if (piece.kind == PathKind::compute) CHECK(piece.where == "rank 2");
    }
    const double calm_s = e.ranks[2].compute_s / 3;
    for (const std::uint32_t rank : {0u, 1u, 3u}) {
        CHECK(e.ranks[rank].compute_s == Approx(calm_s).epsilon(1e-9));
        // Its neighbour gets nothing before the straggler arrives; the others exchange with each other first.
        CHECK(e.ranks[rank].waiting_s > 0);
        CHECK(e.ranks[rank].waiting_s <= 2 * calm_s * (1 + 1e-9));
    }
    CHECK(e.ranks[2].waiting_s < e.ranks[3].waiting_s);
    const auto cause = std::find_if(e.theory.differences.begin(), e.theory.differences.end(),
                                    [](const Difference& one) { return one.cause == "stragglers"; });
    REQUIRE(cause != e.theory.differences.end());
    CHECK(cause->seconds == Approx(2 * calm_s).epsilon(1e-3));  // it also waits for fewer latencies: noise_test.cpp
}

TEST_CASE("critical path: contention is the time that two ranks lose by pushing to one server", "[memory]") {
    for (const std::int64_t ranks : {2, 3, 7}) {
        CAPTURE(ranks);
        Plan plan = plan_of(ranks);
        plan.exchange = ExchangeKind::parameter_server;
        const Explanation e = explain(lower(plain_star(1e9, 1e-6), layers({1'000'000}), plan));
        // N pushes of 1 ms share the server's link instead of one, and N pulls.
        REQUIRE(e.uncontended_time_s);
        CHECK(e.result.time.iteration_s - *e.uncontended_time_s ==
              Approx(2e-3 * static_cast<double>(plan.ranks - 1)).epsilon(1e-9));
        const auto n = static_cast<double>(plan.ranks);
        REQUIRE(!e.links.empty());
        CHECK(e.links.front().busy_s == Approx(n * 1e-3).epsilon(1e-9));
        CHECK(e.links.front().lost_s == Approx(n * (n - 1) * 1e-3).epsilon(1e-9));
    }
}

TEST_CASE("critical path: infinitely fast links change the time only if they are on the path", "[memory]") {
    // The servers' cables are the bottleneck: workers' cables carry a part of their traffic.
    constexpr std::int64_t ranks = 4, servers = 2;
    Plan plan = plan_of(ranks);
    plan.exchange = ExchangeKind::parameter_server;
    plan.servers.count = servers;
    const Model model = layers({3'000'000, 2'000'000, 5'000'000});
    const Cluster cluster = star_of_cables(ranks + servers);
    const Explanation before = explain(lower(cluster, model, plan));
    std::set<std::string> on_path;
    for (const PathPiece& piece : before.path)
        if (!piece.link.empty()) on_path.insert(piece.link);
    std::size_t changed = 0, unchanged = 0;
    for (std::int64_t host = 0; host < ranks + servers; ++host) {
        Cluster faster = cluster;
        faster.fabric.topology.edges[static_cast<std::size_t>(host)].wire = {1e18, 0};  // with its latency unchanged
        const double after_s = replay_iteration(lower(faster, model, plan)).time.iteration_s;
        const bool on = on_path.count(fmt::format("h{}->s", host)) + on_path.count(fmt::format("s->h{}", host)) > 0;
        CAPTURE(host, on, after_s, before.result.time.iteration_s);
        if (on)
            CHECK(after_s < before.result.time.iteration_s * (1 - 1e-6));
        else
            CHECK(after_s == Approx(before.result.time.iteration_s).epsilon(1e-9));
        ++(on ? changed : unchanged);
    }
    CHECK(changed > 0);
    CHECK(unchanged >= ranks);
}

TEST_CASE("critical path: in a pipeline it goes from stage to stage, whether messages or only tasks are recorded",
          "[memory]") {
    for (const PipelineSchedule schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b}) {
        Plan plan = plan_of(4);
        plan.batch_per_rank = 8;
        plan.parallelism.pipeline.stages = 4;
        plan.parallelism.pipeline.micro_batches = 8;
        plan.parallelism.pipeline.schedule = schedule;
        Model model = layers({4000, 4000, 4000, 4000});
        for (Layer& layer : model.layers) layer.activations = 250;
        ExplainOptions tasks;
        tasks.most_messages = 0;
        const Cluster cluster = plain_star(1e9, 1e-6);
        const Explanation fine = explain(lower(cluster, model, plan)),
                          coarse = explain(lower(cluster, model, plan), tasks);
        CHECK(fine.level == "messages");
        CHECK(coarse.level == "tasks");
        // The path contains m + p - 1 forward and as many backward passes, each of a microbatch on a stage; transfers
        // are short.
        CHECK(seconds_of(coarse, PathKind::compute) == Approx(seconds_of(fine, PathKind::compute)).epsilon(1e-6));
        CHECK(seconds_of(coarse, PathKind::compute) > 0.99 * coarse.window_s);
        std::set<std::string> ranks;
        for (const PathPiece& piece : coarse.path)
            if (piece.kind == PathKind::compute) ranks.insert(piece.where);
        CHECK(ranks.size() == 4);
        for (std::size_t rank = 0; rank < 4; ++rank)
            CHECK(coarse.ranks[rank].idle_s == Approx(fine.ranks[rank].idle_s).epsilon(0.02).margin(1e-4));
    }
}

TEST_CASE("what if: a batch of another size has more or fewer microbatches of the same size, if their number is whole",
          "[memory]") {
    // Two stages of one layer and m microbatches, messages without time. A pass takes u for a microbatch; the first
    // layer needs no gradient of its inputs, so that the second stage is the busier one: u before it, 3u for each
    // microbatch, u after it. With three 11u; twice the batch has six, 20u, and not 22u; a third of it has one, 5u.
    // Half of it would be 1.5 microbatches: there are three of half the size, 11u/2.
    const Cluster cluster = plain_star(1e18, 0);
    const Model model = layers({4000, 4000});
    Plan plan = plan_of(2);
    plan.batch_per_rank = 6;
    plan.parallelism.pipeline.stages = 2;
    plan.parallelism.pipeline.micro_batches = 3;
    ExplainOptions options;
    for (const double factor : {2.0, 1.0 / 3, 0.5}) options.changes.push_back({"batch", factor});
    const Explanation e = explain(lower(cluster, model, plan), options);
    const double pass_s = e.result.time.iteration_s / 11;
    REQUIRE(pass_s > 0);
    for (const WhatIf& one : e.what_if) {
        CAPTURE(one.change, one.text, one.problem);
        REQUIRE(one.iteration_time_s);
        if (one.change == "batch x2") {
            CHECK(*one.iteration_time_s == Approx(20 * pass_s).epsilon(1e-6));
            CHECK(one.text == "each rank computes 2 times the samples, in 6 microbatches of the same size");
        } else if (one.change == "batch x0.5") {
            CHECK(*one.iteration_time_s == Approx(11 * pass_s / 2).epsilon(1e-6));
            CHECK(one.text.ends_with(", in 3 microbatches as before, each 0.5 times as large"));
        } else {
            CHECK(*one.iteration_time_s == Approx(5 * pass_s).epsilon(1e-6));
        }
    }
}

TEST_CASE("what if: twice the speed halves computation, and twice the bandwidth halves transfers", "[memory]") {
    const Cluster cluster = plain_star(1e9, 1e-6);
    const Model model = layers({4'000'000});
    const Plan plan = plan_of(4);
    ExplainOptions options;
    options.changes = every_change();
    const Explanation e = explain(lower(cluster, model, plan), options);
    const auto seconds = [&](const std::string& change) {
        const auto found =
            std::find_if(e.what_if.begin(), e.what_if.end(), [&](const WhatIf& one) { return one.change == change; });
        REQUIRE(found != e.what_if.end());
        CAPTURE(change, found->problem);
        REQUIRE(found->iteration_time_s);
        return *found->iteration_time_s;
    };
    const double compute_s = e.result.time.compute_s, latency_s = 6 * 1e-6, bytes_s = 6e-3;
    REQUIRE(e.result.time.iteration_s == Approx(compute_s + latency_s + bytes_s).epsilon(1e-9));
    CHECK(seconds("link:nic x2") == Approx(compute_s + latency_s + bytes_s / 2).epsilon(1e-9));
    CHECK(seconds("latency x0.5") == Approx(compute_s + latency_s / 2 + bytes_s).epsilon(1e-9));
    CHECK(seconds("device x2") == Approx(compute_s / 2 + latency_s + bytes_s).epsilon(1e-9));
    CHECK(seconds("batch x2") == Approx(2 * compute_s + latency_s + bytes_s).epsilon(1e-9));
    for (std::size_t i = 1; i < e.what_if.size(); ++i)
        if (e.what_if[i].problem.empty()) CHECK(e.what_if[i].speed_up <= e.what_if[i - 1].speed_up);
}

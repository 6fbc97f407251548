#include <array>
#include <random>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/workload/compute_model.hpp"
#include "tests/catch.hpp"

// Compares whole iterations at message level with the recurrences of the α-β model and with each other.

using namespace syncline;

namespace {

Cluster cluster_of(double bandwidth_Bps) {
    Cluster cluster;
    cluster.nodes = 256;
    cluster.device.flops_per_s = 1e12;
    cluster.device.memory_Bps = 1e11;
    cluster.device.reduction_Bps = 5e10;
    cluster.host.reduction_Bps = 3e10;
    cluster.fabric.topology.bandwidth_Bps = {bandwidth_Bps};
    cluster.fabric.topology.latency_s = {2e-6};
    return cluster;
}

/// A random network of `count` layers; some have no parameters.
Model random_model(std::mt19937& random, std::size_t count) {
    Model model;
    model.name = "random";
    model.sample_elements = 150528;
    const auto draw = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t parameters = draw(0, 4) == 0 ? 0 : draw(1, 3'000'000);
        model.layers.push_back({"layer", parameters, draw(1, 100'000'000), draw(1, 100'000), draw(1, 100'000)});
    }
    model.layers.push_back({"last", 1'000'003, 1'000'000, 1000, 1000});
    return model;
}

Plan plan_of(std::int64_t ranks) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 8;
    return plan;
}

constexpr std::array placements{ServerAssignment::round_robin, ServerAssignment::greedy_bytes,
                                ServerAssignment::sliced};

}  // namespace

TEST_CASE("all-reduce iterations equal the recurrence, with and without overlap, fusion and input copies", "[memory]") {
    std::mt19937 random(7);
    for (int round = 0; round < 30; ++round) {
        const Model model = random_model(random, 1 + random() % 12);
        Cluster cluster = cluster_of(round % 2 == 0 ? 1e9 : 1e10);
        if (round % 3 == 0) cluster.device.host_link_Bps = 2e9;
        Plan plan = plan_of(2 + random() % 9);
        plan.overlap = round % 4 < 2 ? Overlap::wait_free : Overlap::none;
        plan.input_copy = round % 5 < 2 ? InputCopy::blocking : InputCopy::overlapped;
        if (round % 3 == 1) plan.fusion.threshold_bytes = 6e6;
        if (round % 6 == 1) plan.fusion.cycle_s = 2e-3;
        CAPTURE(round, plan.ranks);
        const Result result = simulate(lower(cluster, model, plan));
        CHECK(result.time.iteration_s == Approx(result.closed_form.iteration_time_s.value()).epsilon(1e-6));
        CHECK(result.bytes_sent == std::uint64_t(2 * (plan.ranks - 1)) * result.gradient_bytes);
        CHECK(result.time.drift < 1e-5);  // blocks that differ by a byte put ranks out of step
    }
}

TEST_CASE("parameter-server iterations equal the closed form, whatever the placement", "[memory]") {
    std::mt19937 random(11);
    for (int round = 0; round < 60; ++round) {
        const Model model = random_model(random, 1 + random() % 9);
        const Cluster cluster = cluster_of(2e9);
        Plan plan = plan_of(4 + random() % 5);
        plan.exchange = ExchangeKind::parameter_server;
        plan.overlap = round % 4 < 2 ? Overlap::none : Overlap::wait_free;
        plan.servers.count = 1 + random() % 4;
        plan.servers.assignment = placements[static_cast<std::size_t>(round) % placements.size()];
        CAPTURE(round, plan.ranks, plan.servers.count);
        const Result result = simulate(lower(cluster, model, plan));
        CHECK(result.time.iteration_s == Approx(result.closed_form.iteration_time_s.value()).epsilon(1e-6));
        CHECK(result.bytes_sent == std::uint64_t(2 * plan.ranks) * result.gradient_bytes);
    }
}

TEST_CASE("colocated servers: the first iteration and all later ones equal the closed form") {
    std::mt19937 random(13);
    for (int round = 0; round < 40; ++round) {
        const Model model = random_model(random, 1 + random() % 9);
        Cluster cluster = cluster_of(2e9);
        if (round % 4 == 0) cluster.host.loopback_Bps = 1e8;  // slower than the network, so it is the bottleneck
        Plan plan = plan_of(4 + random() % 5);
        plan.exchange = ExchangeKind::parameter_server;
        plan.overlap = Overlap::none;
        plan.servers.count = 1 + random() % 4;
        plan.servers.location = ServerLocation::spread;
        plan.servers.assignment = placements[static_cast<std::size_t>(round) % placements.size()];
        CAPTURE(round, plan.ranks, plan.servers.count);
        double compute_s = 0;
        for (const LayerTime& time : layer_times(model, cluster.device, plan.batch_per_rank)) {
            compute_s += time.forward_s + time.backward_s();
        }
        const ClosedForm theory = closed_form(lower(cluster, model, plan));
        const Timeline timeline = replay_isolated(cluster, build_iteration(lower(cluster, model, plan)), {});
        CHECK(timeline.iteration_end_s[0] - compute_s == Approx(theory.communication_time_s.value()).epsilon(1e-6));
        CHECK(simulate(lower(cluster, model, plan)).time.iteration_s ==
              Approx(theory.iteration_time_s.value()).epsilon(1e-6));
    }
}

TEST_CASE("the measured iteration is typical: its time is the mean over many", "[memory]") {
    std::mt19937 random(17);
    for (int round = 0; round < 30; ++round) {
        const Model model = random_model(random, 1 + random() % 9);
        const Cluster cluster = cluster_of(2e9);
        Plan plan = plan_of(3 + random() % 5);
        plan.iterations = 12;
        plan.exchange = ExchangeKind::parameter_server;
        plan.overlap = round % 2 == 0 ? Overlap::none : Overlap::wait_free;
        plan.servers.count = 1 + random() % 3;
        plan.servers.location = ServerLocation::spread;
        CAPTURE(round, plan.ranks, plan.servers.count);
        const Timeline timeline = replay_isolated(cluster, build_iteration(lower(cluster, model, plan)), {40, 0});
        const double mean_s = (timeline.iteration_end_s[38] - timeline.iteration_end_s[18]) / 20;
        const Result result = simulate(lower(cluster, model, plan));
        CHECK(result.time.iteration_s == Approx(mean_s).epsilon(1e-6));
        CHECK(result.time.drift < 1e-6);
    }
}

TEST_CASE("wait-free is never slower than no overlap of the same buckets, and the parts of an iteration add up") {
    std::mt19937 random(3);
    for (int round = 0; round < 100; ++round) {
        const Model model = random_model(random, 1 + random() % 10);
        const Cluster cluster = cluster_of(round % 2 == 0 ? 1e9 : 2e10);
        Plan plan = plan_of(2 + random() % 7);
        plan.exchange = round % 4 < 2 ? ExchangeKind::allreduce : ExchangeKind::parameter_server;
        plan.servers.count = 1 + random() % 2;
        plan.servers.assignment = round % 8 < 4 ? ServerAssignment::round_robin : ServerAssignment::sliced;
        plan.servers.location = random() % 2 == 0 ? ServerLocation::dedicated : ServerLocation::spread;
        CAPTURE(round, plan.ranks, plan.servers.count);
        if (round % 3 == 0) plan.fusion.threshold_bytes = 5e6;
        plan.overlap = Overlap::none;
        const Result none = simulate(lower(cluster, model, plan));
        plan.overlap = Overlap::wait_free;
        const Result wait_free = simulate(lower(cluster, model, plan));
        CHECK(wait_free.time.iteration_s <= none.time.iteration_s * (1 + 1e-9));
        CHECK(none.time.exposed_communication_s == Approx(none.time.communication_s));
        for (const Result& result : {none, wait_free}) {
            const Breakdown& time = result.time;
            CHECK(time.exposed_communication_s <= time.communication_s);
            CHECK(time.compute_s + time.exposed_communication_s <= time.iteration_s * (1 + 1e-9));
            CHECK(time.compute_s <= time.iteration_s * (1 + 1e-9));
            CHECK(result.scaling_efficiency <= 1 + 1e-9);
            CHECK(result.messages > 0);
        }
    }
}

TEST_CASE("one rank exchanges nothing and takes its computation, or its input copy if that is longer", "[memory]") {
    std::mt19937 random(5);
    const Model model = random_model(random, 6);
    Cluster cluster = cluster_of(1e9);
    for (const ExchangeKind exchange : {ExchangeKind::allreduce, ExchangeKind::parameter_server}) {
        Plan plan = plan_of(1);
        plan.exchange = exchange;
        const Result result = simulate(lower(cluster, model, plan));
        CHECK(result.messages == 0);
        CHECK(result.bytes_sent == 0);
        CHECK(result.time.iteration_s == Approx(result.time.compute_s));
        CHECK(result.scaling_efficiency == 1);
    }
    const double copy_s = 1.0;
    cluster.device.host_link_Bps = 8 * 150528 * 4 / copy_s;
    Plan plan = plan_of(1);
    CHECK(simulate(lower(cluster, model, plan)).time.iteration_s == Approx(copy_s));
    plan.input_copy = InputCopy::blocking;
    const Result blocking = simulate(lower(cluster, model, plan));
    CHECK(blocking.time.iteration_s == Approx(copy_s + blocking.time.compute_s));
}

TEST_CASE("replaying the same graph twice gives the same timeline to the last bit", "[memory]") {
    std::mt19937 random(9);
    const Model model = random_model(random, 8);
    Plan plan = plan_of(6);
    plan.exchange = ExchangeKind::parameter_server;
    plan.servers.count = 3;
    const Cluster cluster = cluster_of(1e9);
    const TaskGraph graph = build_iteration(lower(cluster, model, plan));
    const Timeline first = replay_isolated(cluster, graph, {3, 2});
    const Timeline second = replay_isolated(cluster, graph, {3, 2});
    REQUIRE(first.measured().size() == second.measured().size());
    for (std::size_t i = 0; i < first.measured().size(); ++i) {
        CHECK(first.measured()[i].start_s == second.measured()[i].start_s);
        CHECK(first.measured()[i].end_s == second.measured()[i].end_s);
    }
}

TEST_CASE("on a fast network communication is small compared with computation, for every exchange", "[memory]") {
    std::mt19937 random(19);
    const Model model = random_model(random, 8);
    Cluster cluster = cluster_of(1e13);
    cluster.fabric.topology.latency_s = {1e-9};
    cluster.host.reduction_Bps = cluster.device.reduction_Bps = unlimited;
    for (const ExchangeKind exchange : {ExchangeKind::allreduce, ExchangeKind::parameter_server}) {
        Plan plan = plan_of(4);
        plan.exchange = exchange;
        const Result result = simulate(lower(cluster, model, plan));
        CHECK(result.time.communication_s < 0.01 * result.time.compute_s);
    }
}

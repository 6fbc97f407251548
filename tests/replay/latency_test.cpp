#include <cstdint>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/messages.hpp"
#include "tests/replay/scripted.hpp"

// Latency that travels: a sender waits for its bytes alone, and the messages of later steps follow on the wires. Worked
// out by hand, in microseconds, on a star of 1 GB/s: 1000 bytes take 1 µs, and then 100 µs of latency.

using namespace syncline;

namespace {

constexpr double us = 1e-6;
constexpr double latency_s = 100 * us;

Cluster star(Latency latency = Latency::travelling) {
    Cluster cluster = star_cluster(8, 1e9, latency_s / 2);
    cluster.latency = latency;
    return cluster;
}

Step send(std::uint32_t to, std::uint32_t kilobytes = 1, std::uint32_t times = 1) {
    return {{{to, 0, 1000 * kilobytes}}, {}, false, times};
}

Step receive(std::uint32_t from, std::uint32_t kilobytes = 1, std::uint32_t times = 1) {
    return {{}, {{from, 0, 1000 * kilobytes}}, false, times};
}

std::vector<double> ends(const Cluster& cluster, const std::vector<std::vector<Step>>& steps) {
    return play(cluster, one_by_node(static_cast<std::uint32_t>(steps.size())), steps).ends;
}

}  // namespace

TEST_CASE("latency: a sender is free when its bytes have left, and the receiver has them a latency later", "[memory]") {
    const auto travelling = ends(star(), {{send(1)}, {receive(0)}});
    CHECK(travelling[0] == Approx(1 * us));
    CHECK(travelling[1] == Approx(1 * us + latency_s));
    for (const double end : ends(star(Latency::blocking), {{send(1)}, {receive(0)}}))
        CHECK(end == Approx(1 * us + latency_s));
    Cluster constant = star();
    constant.network = NetworkModel::Constant;
    const auto sizeless = ends(constant, {{send(1)}, {receive(0)}});
    CHECK(sizeless[0] == 0);
    CHECK(sizeless[1] == Approx(latency_s));
}

TEST_CASE("latency: messages of consecutive steps follow each other on the wires", "[memory]") {
    const auto travelling = ends(star(), {{send(1, 1, 50)}, {receive(0, 1, 50)}});
    CHECK(travelling[0] == Approx(50 * us));
    CHECK(travelling[1] == Approx(50 * us + latency_s));
    CHECK(ends(star(Latency::blocking), {{send(1, 1, 50)}, {receive(0, 1, 50)}})[1] ==
          Approx(50 * (1 * us + latency_s)));
}

TEST_CASE("latency: overheads block, as in LogGP", "[memory]") {
    Cluster cluster = star();
    cluster.transport.between.send_overhead_s = 2 * us;
    cluster.transport.between.receive_overhead_s = 5 * us;
    const auto slow_receiver = ends(cluster, {{send(1, 1, 10)}, {receive(0, 1, 10)}});
    CHECK(slow_receiver[0] == Approx(10 * 3 * us));
    CHECK(slow_receiver[1] == Approx(3 * us + latency_s + 10 * 5 * us));
    cluster.transport.between.send_overhead_s = 7 * us;
    const auto slow_sender = ends(cluster, {{send(1, 1, 10)}, {receive(0, 1, 10)}});
    CHECK(slow_sender[0] == Approx(10 * 8 * us));
    CHECK(slow_sender[1] == Approx(10 * 8 * us + latency_s + 5 * us));
}

TEST_CASE("latency: a receiver takes the messages of its steps in order, off the wires before they have arrived",
          "[memory]") {
    // 0 receives from 1 and then from 2; 1 sends when it has received 9000 bytes from 3.
    const auto times = ends(star(), {{receive(1), receive(2)}, {receive(3, 9), send(0)}, {send(0)}, {send(1, 9)}});
    CHECK(times[3] == Approx(9 * us));
    CHECK(times[1] == Approx(9 * us + latency_s + 1 * us));
    CHECK(times[2] == Approx(9 * us + latency_s + 2 * us));  // when 1's bytes are there, not when they have arrived
    CHECK(times[0] == Approx(9 * us + latency_s + 2 * us + latency_s));
}

TEST_CASE("latency: steps without receives keep none back", "[memory]") {
    // 0 is busy sending while messages for its later steps come in.
    const auto times = ends(star(), {{send(1, 500), receive(2), receive(2)}, {receive(0, 500)}, {send(0), send(0)}});
    CHECK(times[2] == Approx(2 * us));
    CHECK(times[0] == Approx(500 * us));
}

TEST_CASE("latency: an exchange begins with what its members post then", "[memory]") {
    // Messages of the next exchange wait for their receiver to be done with this one.
    const Cluster cluster = star();
    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (const Place& place : one_by_node(3)) workers.push_back(graph.add_process({place}));
    const auto first = std::make_shared<const Scripted>(std::vector<std::vector<Step>>{{receive(1)}, {send(0)}, {}});
    const auto second = std::make_shared<const Scripted>(std::vector<std::vector<Step>>{{receive(2)}, {}, {send(0)}});
    const Arrivals results = add_collectives(graph, workers, {{1 << 20, first}, {1 << 20, second}}, {}, cluster);
    graph.seal();
    const Timeline timeline = replay_isolated(cluster, graph, {});
    const auto end_s = [&](std::uint32_t rank, std::size_t exchange) {
        return timeline.measured()[results.own[rank][exchange].task].end_s;
    };
    CHECK(end_s(0, 0) == Approx(1 * us + latency_s));
    CHECK(end_s(2, 1) == Approx(2 * us + latency_s));
    CHECK(end_s(0, 1) == Approx(2 * us + 2 * latency_s));
}

TEST_CASE("latency: a chain pays each latency once, as its closed form", "[memory]") {
    CollectivePlan plan;
    plan.ranks = 8;
    plan.bytes = 160 * 10'000;
    TopologySpec chain;
    chain.shape = Shape::tree;
    chain.arity = 1;
    plan.algorithm = {.operation = "broadcast", .name = "pipelined-tree", .overlay = chain, .segment_bytes = 10'000};
    const CollectiveResult travelling = simulate_collective(star(), plan);
    CHECK(travelling.completion_time_s == Approx((7 + 159) * 10 * us + 7 * latency_s));  // 2.36 ms
    CHECK(travelling.closed_form_s.value() == Approx(travelling.completion_time_s));
    const CollectiveResult blocking = simulate_collective(star(Latency::blocking), plan);
    CHECK(blocking.completion_time_s == Approx((7 + 159) * (10 * us + latency_s)));  // 18.26 ms
    CHECK(blocking.closed_form_s.value() == Approx(blocking.completion_time_s));
}

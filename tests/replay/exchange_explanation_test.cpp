#include <algorithm>

#include "sim/explain/exchange_explanation.hpp"
#include "tests/catch.hpp"

// Explanations of collective operations: parts of the time, the least time, and what would change it.

using namespace syncline;

namespace {

CollectivePlan plan_of(const std::string& operation, std::int64_t ranks, std::uint64_t bytes) {
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.algorithm.operation = operation;
    plan.algorithm.name = operation == "all-to-all" ? "pairwise" : "ring";
    plan.bytes = bytes;
    return plan;
}

double part_s(const ExchangeExplanation& e, const std::string& resource) {
    const auto found = std::ranges::find(e.parts, resource, &ResourcePart::resource);
    return found == e.parts.end() ? 0 : found->seconds;
}

}  // namespace

TEST_CASE("explaining an exchange: bytes and latencies of a ring are parts of its time", "[memory]") {
    // Four nodes with ports of 1 GB/s and cables of 1 us. A ring all-reduce has 6 steps of a quarter of the buffer, and
    // each step crosses two cables: 6·(2 us + 25 ms) for 100 MB. At least 2·100 MB·3/4 pass a port: 150 ms.
    const Cluster cluster = star_cluster(4, 1e9, 1e-6);
    const ExchangeExplanation large = explain_exchange(cluster, plan_of("allreduce", 4, 100'000'000), {}, true);
    CHECK(large.result.completion_time_s == Approx(0.15 + 12e-6).epsilon(1e-9));
    CHECK(part_s(large, "link:nic") == Approx(0.15).epsilon(1e-6));
    CHECK(part_s(large, "latency") == Approx(12e-6).epsilon(1e-4));
    CHECK(large.parts.size() == 2);
    REQUIRE(large.least);
    CHECK(large.least->seconds == Approx(0.15));
    CHECK(large.least->bus_bandwidth_Bps.value() == Approx(1e9));
    CHECK(large.answer.starts_with("bus bandwidth is 999.9 MB/s of at most 1 GB/s, the limit of a node's port: "));
    CHECK(large.answer.find("links between nodes and fabric bound it (100 % of the time; the busiest, ") !=
          std::string::npos);
    REQUIRE(!large.what_if.empty());
    CHECK(large.what_if.front().change == "link:nic x2");
    CHECK(large.what_if.front().iteration_time_s.value() == Approx(0.075 + 12e-6).epsilon(1e-9));

    const ExchangeExplanation small =
        explain_exchange(cluster, plan_of("allreduce", 4, 400), {{"latency", 0.25}}, true);
    // 6·(2 us + 100 ns)
    CHECK(part_s(small, "latency") == Approx(12e-6).epsilon(1e-6));
    CHECK(part_s(small, "link:nic") == Approx(0.6e-6).epsilon(1e-6));
    CHECK(small.answer.find("latency bounds it (95 % of the time)") != std::string::npos);
    REQUIRE(small.what_if.size() == 1);
    CHECK(small.what_if.front().change == "latency x0.25");
    CHECK(small.what_if.front().iteration_time_s.value() == Approx(3e-6 + 0.6e-6).epsilon(1e-9));
}

TEST_CASE("explaining an exchange: overheads and launches of software are a part of its own", "[memory]") {
    // Each of 6 steps adds the overheads of both sides, 3 us and 2 us, and the launch of 10 us comes first.
    Cluster cluster = star_cluster(4, 1e9, 1e-6);
    cluster.transport.between.send_overhead_s = 3e-6;
    cluster.transport.between.receive_overhead_s = 2e-6;
    cluster.transport.launch_s = 10e-6;
    const ExchangeExplanation e = explain_exchange(cluster, plan_of("allreduce", 4, 400), {}, false);
    CHECK(e.result.completion_time_s == Approx(10e-6 + 6 * (5e-6 + 2e-6 + 0.1e-6)).epsilon(1e-6));
    CHECK(part_s(e, "transport") == Approx(40e-6).epsilon(1e-6));
    CHECK(e.answer.find("the transport's software bounds it (76 % of the time)") != std::string::npos);
    CHECK(e.what_if.empty());
}

TEST_CASE("explaining an exchange: the least time is that of a device's links or of a node's ports", "[memory]") {
    // Two nodes of four devices, with links of 10 GB/s inside and ports of 1 GB/s; S = 100 MB.
    Cluster cluster = star_cluster(2, 1e9, 0);
    cluster.node.devices = 4;
    cluster.node.link = {10e9, 0};
    const auto least_s = [&](const std::string& operation, std::int64_t ranks) {
        const auto least = least_time(cluster, plan_of(operation, ranks, 100'000'000));
        return least ? least->seconds : 0;
    };
    for (const std::int64_t ports : {1, 4}) {
        CAPTURE(ports);
        cluster.node.nics = ports;
        const auto k = static_cast<double>(ports);
        // Half of the sum, twice: 100 MB over the ports; with four of them 25 ms, less than a device needs for
        // 2·100 MB·7/8 over 10 + 1 GB/s, 15.9 ms.
        CHECK(least_s("allreduce", 8) == Approx(0.1 / k));
        CHECK(least_s("allgather", 8) == Approx(0.05 / k));
        // Each of four devices sends half of its buffer to the other node.
        CHECK(least_s("all-to-all", 8) == Approx(0.2 / k));
        CHECK(least_s("broadcast", 8) == Approx(0.1 / k));
        // In one node: 2·100 MB·3/4 over 10 GB/s.
        CHECK(least_s("allreduce", 4) == Approx(15e-3));
        CHECK(least_s("barrier", 4) == 0);
    }
    cluster.node.nics = 1;
    // A limit of the host's software applies to all ports.
    cluster.transport.host_Bps = 0.5e9;
    CHECK(least_s("allreduce", 8) == Approx(0.2));
}

TEST_CASE("explaining an exchange: an all-to-all at the limit of the ports says so", "[memory]") {
    // 8 ranks on nodes of one device: each sends 7/8 of 80 MB over 1 GB/s: 70 ms, the least time.
    const ExchangeExplanation e =
        explain_exchange(star_cluster(8, 1e9, 0), plan_of("all-to-all", 8, 80'000'000), {}, false);
    CHECK(e.result.completion_time_s == Approx(70e-3).epsilon(1e-9));
    CHECK(e.least.value().seconds == Approx(70e-3));
    CHECK(e.parts.size() == 1);
    CHECK(e.parts.front().share == Approx(1).epsilon(1e-6));
}

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/carried_cost.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/iteration/exchange.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/allreduce.hpp"

// Collectives over a transport: closed forms where they exist, and a parameter server.

using namespace syncline;

namespace {

Cluster star() {
    Cluster cluster = star_cluster(128, 3e9, 1e-6);
    cluster.device.reduction_Bps = 200e9;
    cluster.device.host_link_Bps = 12e9;
    cluster.host.reduction_Bps = 25e9;
    return cluster;
}

void check_closed_form(const Cluster& cluster, const std::string& algorithm, std::uint32_t ranks, std::uint64_t bytes) {
    CAPTURE(algorithm, ranks, bytes);
    const CollectiveResult result = allreduce(cluster, ranks, 1, algorithm, bytes);
    REQUIRE(result.closed_form_s);
    CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-6));
}

}  // namespace

TEST_CASE("transport: overheads are part of α if all ranks are in step, and copies are added", "[memory]") {
    Cluster cluster = star();
    Transport& transport = cluster.transport;
    transport.between = {1e-6, 2e-6, 3e-6, {{1, 1e9}}};
    transport.driver_query_s = 0.5e-6;
    transport.launch_s = 9e-6;
    transport.staging = {Staging::Unit::collective, {}, 4e-6};
    transport.window = 1;
    const double alpha = 2e-6 + 1e-6 + 2e-6 + 3e-6 + 2 * 0.5e-6;
    for (const std::uint32_t n : {2u, 3u, 5u, 8u, 13u, 32u}) {
        for (const std::uint64_t bytes : {0ull, 1ull, 1001ull, 10000019ull}) {
            CAPTURE(n, bytes);
            check_closed_form(cluster, "ring", n, bytes);
            // The same, written out.
            const auto block = static_cast<double>((bytes + n - 1) / n);
            const double copy_s = bytes == 0 ? 0 : 4e-6 + static_cast<double>(bytes) / 12e9;
            const double ring_s = 2 * (n - 1) * (alpha + block / 1e9) + (n - 1) * block / 200e9;
            CHECK(*allreduce(cluster, n, 1, "ring", bytes).closed_form_s ==
                  Approx(9e-6 + 2 * copy_s + ring_s).epsilon(1e-12));
        }
    }
    for (const std::uint32_t n : {2u, 4u, 32u}) check_closed_form(cluster, "recursive-doubling", n, 1000003);
}

TEST_CASE("transport: a host's total traffic and the place of reductions leave every closed form exact", "[memory]") {
    Cluster cluster = star();
    cluster.transport.host_Bps = 1e9;
    cluster.transport.reduction = {Reduction::Where::host, {}, 0};
    Cluster slower = star_cluster(128, 1e9, 1e-6);
    slower.device.reduction_Bps = slower.host.reduction_Bps = cluster.host.reduction_Bps;
    for (const std::uint32_t n : {2u, 3u, 8u, 13u}) {
        for (const char* algorithm : {"ring", "recursive-doubling", "pipelined-tree", "parameter-server"}) {
            CAPTURE(algorithm, n);
            const CollectiveResult limited = allreduce(cluster, n, 1, algorithm, 1000003);
            const CollectiveResult by_wires = allreduce(slower, n, 1, algorithm, 1000003);
            CHECK(limited.completion_time_s == Approx(by_wires.completion_time_s).epsilon(1e-12));
            CHECK(limited.closed_form_s == by_wires.closed_form_s);
        }
    }
    check_closed_form(cluster, "ring", 13, 1000003);
    check_closed_form(cluster, "parameter-server", 13, 1000003);
    // A ring's reductions by the host: (N-1)⌈S/N⌉ bytes at 25 GB/s.
    CHECK(allreduce(cluster, 4, 1, "ring", 4000000).completion_time_s ==
          Approx(6 * (2e-6 + 1e6 / 1e9) + 3 * 1e6 / 25e9).epsilon(1e-9));
}

TEST_CASE("transport: the closed form of any algorithm of any operation equals the simulation") {
    Cluster cluster = star();
    Transport& transport = cluster.transport;
    transport.between = {3e-6, 5e-6, 7e-6, {{1, 1e9}}};
    transport.driver_query_s = 1e-6;
    transport.launch_s = 11e-6;
    transport.host_Bps = 2e9;
    transport.staging = {Staging::Unit::collective, 3e9, 4e-6};
    transport.window = 1;
    int with = 0, without = 0;
    for (const std::string& operation : operation_names()) {
        for (const std::string& algorithm : algorithm_names(operation)) {
            for (const std::uint32_t n : {2u, 3u, 8u, 13u}) {
                for (const std::uint64_t bytes : {0ull, 5ull, 1000003ull}) {
                    CAPTURE(operation, algorithm, n, bytes);
                    CollectivePlan plan;
                    plan.ranks = n;
                    plan.algorithm.operation = operation;
                    plan.algorithm.name = algorithm;
                    plan.bytes = bytes;
                    try {
                        make_algorithm(plan.algorithm, n);
                    } catch (const AlgorithmError&) {
                        continue;  // it needs an overlay
                    }
                    const CollectiveResult result = simulate_collective(cluster, plan);
                    ++(result.closed_form_s ? with : without);
                    if (result.closed_form_s)
                        CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-6));
                }
            }
        }
    }
    CHECK(with > 20);
    CHECK(without > 20);
}

TEST_CASE("transport: a protocol's terms are part of the closed form", "[memory]") {
    const Protocol protocol{"LL", 6e-6, 1e-6, 3e-6, 0.5, 0.5};
    Cluster cluster = star();
    const MessageCost wires{2e-6, 1 / 3e9, 1 / 200e9};
    const AlgorithmSpec ring{}, tree{.name = "pipelined-tree"};
    for (const bool with_transport : {false, true}) {
        if (with_transport) {
            cluster.transport.between = {1e-6, 2e-6, 0, {{1, 1e9}}};
            cluster.transport.launch_s = 9e-6;
        }
        for (const std::uint32_t n : {2u, 5u, 8u}) {
            CAPTURE(with_transport, n);
            std::vector<Place> places;
            TaskGraph graph;
            std::vector<ProcessId> workers;
            for (std::uint32_t rank = 0; rank < n; ++rank) {
                places.push_back({rank, 0});
                workers.push_back(graph.add_process({places.back()}));
            }
            const auto algorithm = make_algorithm(ring, n);
            add_collectives(graph, workers, {{4000000, algorithm, protocol}}, {}, cluster);
            graph.seal();
            const auto expected = carried_cost(cluster, places, *algorithm, 4000000, wires, protocol);
            REQUIRE(expected);
            CHECK(replay_isolated(cluster, graph, {}).iteration_end_s.front() == Approx(*expected).epsilon(1e-6));
            CHECK(*expected > *carried_cost(cluster, places, *algorithm, 4000000, wires));
            if (n > 2) CHECK_FALSE(carried_cost(cluster, places, *make_algorithm(tree, n), 4000000, wires, protocol));
        }
    }
}

TEST_CASE("transport: a closed form that would not be exact is absent", "[memory]") {
    const auto none = [](const Transport& transport, const std::string& algorithm, std::uint32_t ranks) {
        Cluster cluster = star();
        cluster.transport = transport;
        CAPTURE(algorithm, ranks);
        CHECK_FALSE(allreduce(cluster, ranks, 1, algorithm, 1000003).closed_form_s);
    };
    Transport overhead;
    overhead.between.send_overhead_s = 1e-6;
    none(overhead, "pipelined-tree", 7);
    none(overhead, "parameter-server", 4);
    none(overhead, "recursive-doubling", 6);
    Transport by_size;
    by_size.between.bandwidth = {{1000, 1e8}, {1e6, 1e9}};
    none(by_size, "ring", 4);
    Transport copies;
    copies.staging.unit = Staging::Unit::message;
    none(copies, "ring", 4);
    Transport kernels;
    kernels.reduction.launch_s = 1e-6;
    none(kernels, "ring", 4);
}

TEST_CASE("transport: ranks that share a node have a closed form if all messages cost the same", "[memory]") {
    Cluster cluster = star();
    cluster.node.devices = 4;
    cluster.node.nics = 4;
    cluster.node.link = {3e9, 1e-6};
    cluster.transport.channels = 1;
    cluster.transport.between = cluster.transport.inside = {1e-6, 2e-6, 0, {}};
    check_closed_form(cluster, "ring", 8, 1000003);
    check_closed_form(cluster, "ring", 4, 1000003);
    cluster.transport.inside.latency_s = 1e-6;
    check_closed_form(cluster, "ring", 4, 1000003);
    CHECK_FALSE(allreduce(cluster, 8, 1, "ring", 1000003).closed_form_s);
}

TEST_CASE("transport: pushes and pulls pay it, too, and hosts make no copies", "[memory]") {
    Cluster cluster = star();
    cluster.transport.between = {10e-6, 20e-6, 5e-6, {}};
    cluster.transport.staging = {Staging::Unit::collective, {}, 4e-6};
    const double bytes = 1000000;
    const double copy_s = 4e-6 + bytes / 12e9;
    for (const std::uint32_t n : {2u, 3u, 7u}) {
        CAPTURE(n);
        // All push concurrently; the server receives them one by one, then reduces. Its answers leave 10 us apart, and
        // the last of them ends when all bytes are delivered.
        const double pushed_s = copy_s + 10e-6 + n * bytes / 3e9 + 7e-6 + n * 20e-6;
        const double pulled_s = 10e-6 + n * bytes / 3e9 + 7e-6 + 20e-6 + copy_s;
        const CollectiveResult result = allreduce(cluster, n, 1, "parameter-server", 1000000);
        CHECK(result.completion_time_s == Approx(pushed_s + n * bytes / 25e9 + pulled_s).epsilon(1e-9));
    }
}

TEST_CASE("transport: a transport that has only a name changes nothing", "[memory]") {
    Cluster named = star();
    named.transport.name = "nothing";
    for (const char* algorithm : {"ring", "recursive-doubling", "pipelined-tree", "parameter-server"}) {
        const CollectiveResult with = allreduce(named, 13, 1, algorithm, 1000003);
        const CollectiveResult without = allreduce(star(), 13, 1, algorithm, 1000003);
        CHECK(with.completion_time_s == without.completion_time_s);
        CHECK(with.closed_form_s == without.closed_form_s);
    }
}

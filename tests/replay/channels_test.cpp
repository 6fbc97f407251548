#include <fmt/format.h>

#include <cmath>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/unit/dgx1.hpp"

// Collectives in channels on nodes with several ports, against closed forms and public measurements.

using namespace syncline;

namespace {

/// Returns nodes of eight devices on a switch with this many ports, on one non-blocking switch.
Cluster nodes_of_eight(std::int64_t nodes, std::int64_t nics, double port_Bps, double inside_Bps, double latency_s) {
    Cluster cluster = star_cluster(nodes, port_Bps, latency_s);
    cluster.node.devices = 8;
    cluster.node.links = NodeLinks::crossbar;
    cluster.node.link = {inside_Bps, 0};
    cluster.node.nics = nics;
    return cluster;
}

CollectivePlan allreduce_of(std::int64_t ranks, std::uint64_t bytes, Fidelity fidelity = Fidelity::message) {
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.bytes = bytes;
    plan.fidelity = fidelity;
    return plan;
}

}  // namespace

TEST_CASE("channels: each with its own port take the time of a ring with their share", "[memory]") {
    // Links inside a node are so fast that only ports and latency count. Every message between nodes has its port for
    // itself, so that each of k rings takes 2(N-1) steps of S/(kN) bytes.
    for (const std::int64_t nics : {1, 2, 4, 8}) {
        for (const std::int64_t nodes : {2, 4}) {
            for (const std::string operation : {"allreduce", "reduce-scatter", "allgather"}) {
                CAPTURE(nics, nodes, operation);
                const double port_Bps = 12.5e9;
                const std::int64_t ranks = 8 * nodes;
                const std::uint64_t bytes = static_cast<std::uint64_t>(ranks * nics) * 1'000'000;
                CollectivePlan plan = allreduce_of(ranks, bytes);
                plan.algorithm.operation = operation;
                const Cluster cluster = nodes_of_eight(nodes, nics, port_Bps, 1e18, 0);
                const CollectiveResult result = simulate_collective(cluster, plan);
                const double once = static_cast<double>(ranks - 1) * 1e6 / port_Bps;
                // A block that has left a node crosses the other seven devices in no time, so that of the steps in
                // which all ranks take part only those count in which some block crosses: all.
                const double closed_s = operation == "allreduce" ? 2 * once : once;
                CHECK(result.completion_time_s == Approx(closed_s).epsilon(1e-6));
                const std::uint64_t halves = operation == "allreduce" ? 2 : 1;
                CHECK(result.bytes_sent == halves * static_cast<std::uint64_t>(ranks - 1) * bytes);
            }
        }
    }
}

TEST_CASE("channels: on links that all of them share the time is that of one ring", "[memory]") {
    for (const std::int64_t channels : {1, 2, 3, 4, 8}) {
        CollectivePlan plan = allreduce_of(6, 6 * 24 * 10'000);
        Cluster cluster = star_cluster(6, 1e9, 2e-6);
        cluster.device.reduction_Bps = 5e9;
        const double one_s = simulate_collective(cluster, plan).completion_time_s;
        plan.channels = channels;
        const CollectiveResult result = simulate_collective(cluster, plan);
        CAPTURE(channels);
        REQUIRE(result.closed_form_s);
        CHECK(result.completion_time_s == Approx(one_s).epsilon(1e-9));
        CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-9));
        plan.fidelity = Fidelity::folded;
        const CollectiveResult folded = simulate_collective(cluster, plan);
        CHECK(folded.completion_time_s == Approx(one_s).epsilon(1e-9));
        CHECK(folded.folded.messages_folded > 0);
    }
}

TEST_CASE("channels: folded as long as message by message") {
    // Inside nodes and between them steps take different times, so that none is folded.
    for (const auto& [nics, mesh] : {std::pair{2, false}, {4, false}, {8, false}, {2, true}, {4, true}}) {
        for (const std::int64_t nodes : {2, 3, 8}) {
            for (const double latency_s : {0.0, 5e-6}) {
                for (const Latency latency : {Latency::blocking, Latency::travelling}) {
                    for (const std::uint64_t rest : {0u, 5u}) {
                        Cluster cluster = nodes_of_eight(nodes, nics, 12.5e9, 150e9, latency_s);
                        cluster.latency = latency;
                        if (mesh) {
                            cluster.node = dgx1_p100();
                            cluster.node.link.latency_s = latency_s;
                            cluster.node.nics = nics;
                        }
                        const auto bytes = static_cast<std::uint64_t>(8 * nodes * nics) * 100'000 + rest;
                        const auto exact = simulate_collective(cluster, allreduce_of(8 * nodes, bytes));
                        const auto fast =
                            simulate_collective(cluster, allreduce_of(8 * nodes, bytes, Fidelity::folded));
                        CAPTURE(nics, mesh, nodes, latency_s, rest);
                        CHECK(fast.completion_time_s == Approx(exact.completion_time_s).epsilon(1e-9));
                        CHECK(fast.messages == exact.messages);
                        CHECK(fast.bytes_sent == exact.bytes_sent);
                        CHECK(fast.sent_by == exact.sent_by);
                    }
                }
            }
        }
    }
}

TEST_CASE("channels: bus bandwidth of two nodes with eight GPUs is that of public measurements", "[memory]") {
    // NVIDIA/nccl 1048: 24 GB/s with one 200 Gb/s port, 86 with four; NVIDIA/nccl 812: 192 with eight (DGX A100).
    // NVIDIA/nccl 495 reports 75 with eight 100 Gb/s ports with RoCE, and calls that low: this one is not met.
    struct Row {
        std::int64_t nics;
        double port_Bps, measured_GBps;
        bool met;
    };
    double before = 0;
    for (const Row& row : {Row{1, 25e9, 24, true}, {4, 25e9, 86, true}, {8, 25e9, 192, true}, {8, 12.5e9, 75, false}}) {
        Cluster cluster = nodes_of_eight(2, row.nics, row.port_Bps, 300e9, 1e-6);
        cluster.device.reduction_Bps = 518.3e9;  // of an A100: a third of its memory's bandwidth (a100-sxm4.yaml)
        const CollectiveResult result = simulate_collective(cluster, allreduce_of(16, 1ull << 30, Fidelity::automatic));
        REQUIRE(result.bus_bandwidth_Bps);
        const double GBps = *result.bus_bandwidth_Bps / 1e9;
        WARN(fmt::format("{} ports of {:g} GB/s: {:.1f} GB/s, measured {:g}", row.nics, row.port_Bps / 1e9, GBps,
                         row.measured_GBps));
        if (!row.met) continue;
        CHECK(GBps > before);
        before = GBps;
        CHECK(GBps == Approx(row.measured_GBps).epsilon(0.15));
    }
}

TEST_CASE("hierarchical: its levels work at the same time on different segments", "[memory]") {
    // Four nodes of four devices. Inside, a device sends at `inside_Bps`; between nodes each rank has its own port.
    CollectivePlan plan = allreduce_of(16, 16 * 64 * 10'000);
    plan.algorithm.name = "hierarchical";
    plan.algorithm.overlay.emplace().shape = Shape::hierarchical;
    for (const std::int64_t size : {4, 4}) {
        HierarchyLevel level;
        level.size = size;
        plan.algorithm.overlay->levels.push_back(level);
    }
    const double port_Bps = 1e9, bytes = 16 * 64 * 10'000;
    for (const double inside_Bps : {1e18, 8e9, 2e9}) {
        CAPTURE(inside_Bps);
        Cluster cluster = nodes_of_eight(4, 4, port_Bps, inside_Bps, 0);
        cluster.node.devices = 4;
        plan.algorithm.segment_bytes = 0;
        const double whole_s = simulate_collective(cluster, plan).completion_time_s;
        // Reduce-scatter and allgather inside carry 3/4 of the bytes over each device's link, and the ring between the
        // nodes, of a fourth of them, 2·3/4.
        const double inner_s = 0.75 * bytes / inside_Bps, outer_s = 1.5 * bytes / 4 / port_Bps;
        CHECK(whole_s == Approx(2 * inner_s + outer_s).epsilon(1e-6));
        double before_s = whole_s;
        for (const double segments : {2, 8, 32}) {
            plan.algorithm.segment_bytes = bytes / segments;
            const double time_s = simulate_collective(cluster, plan).completion_time_s;
            CAPTURE(segments, time_s, whole_s);
            CHECK(time_s >= std::max(2 * inner_s, outer_s) * (1 - 1e-9));
            CHECK(time_s <= before_s * (1 + 1e-9));
            // The first and the last segment are alone at the inner level, and no level waits longer than that.
            CHECK(time_s <= std::max(2 * inner_s, outer_s) + (2 * inner_s + outer_s) / segments * 1.5);
            before_s = time_s;
        }
    }
}

TEST_CASE("channels: on the mesh of a DGX-1 the rate is the sum of its rings' rates", "[memory]") {
    // Four rings of NVLink with P100 and six with V100 (NVIDIA/nccl, issues 301 and 671), each with a share of the
    // buffer and with links of its own, so that a ring takes 2(N-1) steps of S/(kN) bytes.
    constexpr double link_Bps = 20e9;
    for (const auto& [node, rings] : {std::pair{dgx1_p100(), 4}, std::pair{dgx1_v100(), 6}}) {
        Cluster cluster = star_cluster(1, 12.5e9, 0);
        cluster.node = node;
        cluster.node.link = {link_Bps, 0};
        const std::uint64_t bytes = 8 * 6 * 4 * 1'000'000ull;
        CollectivePlan plan = allreduce_of(8, bytes);
        const CollectiveResult all = simulate_collective(cluster, plan);
        CAPTURE(rings);
        CHECK(all.completion_time_s ==
              Approx(2 * 7 * static_cast<double>(bytes) / (8 * rings * link_Bps)).epsilon(1e-6));
        REQUIRE(all.bus_bandwidth_Bps);
        CHECK(*all.bus_bandwidth_Bps == Approx(rings * link_Bps).epsilon(1e-6));
        // A single channel follows the order of the ranks, 3 and 4 of which have no link.
        for (plan.channels = 2; *plan.channels <= rings; ++*plan.channels) {
            const CollectiveResult some = simulate_collective(cluster, plan);
            CHECK(*some.bus_bandwidth_Bps == Approx(static_cast<double>(*plan.channels) * link_Bps).epsilon(1e-6));
            CHECK(some.bytes_sent == all.bytes_sent);
        }
    }
}

TEST_CASE("hierarchical: one segment takes as long as none", "[memory]") {
    for (const Latency latency : {Latency::blocking, Latency::travelling}) {
        Cluster cluster = nodes_of_eight(2, 4, 12.5e9, 150e9, 3e-6);
        cluster.latency = latency;
        CollectivePlan plan = allreduce_of(16, 16 * 100'000);
        plan.algorithm.name = "hierarchical";
        plan.algorithm.overlay.emplace().shape = Shape::hierarchical;
        for (const std::int64_t size : {8, 2}) {
            HierarchyLevel level;
            level.size = size;
            plan.algorithm.overlay->levels.push_back(level);
        }
        const double none_s = simulate_collective(cluster, plan).completion_time_s;
        plan.algorithm.segment_bytes = 100e6;
        CHECK(simulate_collective(cluster, plan).completion_time_s == Approx(none_s).epsilon(1e-12));
    }
}

TEST_CASE("channels: rings along the axes of a torus use all its links", "[memory]") {
    // An all-reduce of S among n = k^d hosts with 2d links of 1 GB/s takes 2 S (n-1)/n / (2d GB/s) and 2 d (k-1)
    // latencies: on 4 x 4 x 4, 2 · 384 MB · 63/64 / 6 = 126 ms and 18 · 0.1 ms. A reduction at 2 GB/s adds half of what
    // the reduce-scatter transfers on one link: 384 · 63/64 / 2 = 189 ms. With k = 2 there are only d links: on 2 x 2 x
    // 2, 2 · 384 · 7/8 / 3 = 224 ms, 6 · 0.1 ms, 168 ms. The halves are an all-gather and a reduce-scatter.
    Cluster cluster;
    TopologySpec& torus = cluster.fabric.topology;
    torus.shape = Shape::torus;
    torus.bandwidth_Bps = {1e9};
    torus.latency_s = {1e-4};
    cluster.device.reduction_Bps = 2e9;
    const auto check = [&](const std::vector<std::int64_t>& dimensions, const char* operation, double seconds) {
        torus.dimensions = dimensions;
        cluster.nodes = 1;
        for (const std::int64_t size : dimensions) cluster.nodes *= size;
        for (const Fidelity fidelity : {Fidelity::message, Fidelity::folded})
            for (const Latency latency : {Latency::travelling, Latency::blocking}) {
                cluster.latency = latency;
                CollectivePlan plan = allreduce_of(cluster.nodes, 384'000'000, fidelity);
                plan.algorithm.operation = operation;
                const CollectiveResult result = simulate_collective(cluster, plan);
                CAPTURE(dimensions, operation);
                CHECK(result.completion_time_s == Approx(seconds).epsilon(1e-9));
                REQUIRE(result.closed_form_s);
                CHECK(*result.closed_form_s == Approx(seconds).epsilon(1e-9));
            }
    };
    check({4, 4, 4}, "allreduce", 0.126 + 0.0018 + 0.189);
    check({4, 4, 4}, "allgather", 0.063 + 0.0009);
    check({4, 4, 4}, "reduce-scatter", 0.063 + 0.0009 + 0.189);
    check({2, 2, 2}, "allreduce", 0.224 + 0.0006 + 0.168);
    // A ring of eight in both directions: 2 · 384 · 7/8 / 2 and 14 · 0.1 ms, 384 · 7/8 / 2.
    check({8}, "allreduce", 0.336 + 0.0014 + 0.168);
    // Axes of different lengths: no closed form, and at least the bytes of all links.
    torus.dimensions = {4, 8};
    cluster.nodes = 32;
    const CollectiveResult uneven = simulate_collective(cluster, allreduce_of(32, 383'999'999));
    CHECK_FALSE(uneven.closed_form_s);
    CHECK(uneven.completion_time_s > 0.186);
    CHECK(uneven.completion_time_s < 0.372 + 0.2);
    const CollectiveResult folded = simulate_collective(cluster, allreduce_of(32, 383'999'999, Fidelity::folded));
    CHECK(folded.completion_time_s == Approx(uneven.completion_time_s).epsilon(1e-9));
}

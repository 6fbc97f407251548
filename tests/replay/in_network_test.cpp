#include <set>

#include "sim/lowering/switches.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/allreduce.hpp"
#include "tests/replay/every_shape.hpp"
#include "tests/replay/training_worlds.hpp"

// In-network all-reduces on switches of a fabric and of a node, compared with the pipeline's closed form.

using namespace syncline;

namespace {

constexpr double us = 1e-6;
constexpr std::uint64_t chunk = 128 * 1024;

CollectiveResult reduce(const Cluster& cluster, std::uint32_t ranks, std::uint64_t bytes) {
    return allreduce(cluster, ranks, 1, "in-network", bytes);
}

/// Returns 2hα' + (m + 2h - 1)c·β for h hops from a rank to the root, in m segments.
double pipeline_s(std::uint32_t hops, double latency_s, double segments, double bandwidth_Bps) {
    return 2 * hops * latency_s + (segments + 2 * hops - 1) * static_cast<double>(chunk) / bandwidth_Bps;
}

Cluster reducing_star(std::int64_t nodes) {
    Cluster cluster = star_cluster(nodes, 1e9, 3 * us);
    cluster.fabric.reduces = true;
    return cluster;
}

}  // namespace

TEST_CASE("in-network: on a star every buffer goes up once and comes down once", "[memory]") {
    for (const std::uint32_t ranks : {2u, 3u, 8u, 13u}) {
        for (const std::uint64_t segments : {1u, 2u, 10u, 80u}) {
            CAPTURE(ranks, segments);
            const Cluster cluster = reducing_star(16);
            const CollectiveResult result = reduce(cluster, ranks, segments * chunk);
            CHECK(result.completion_time_s ==
                  Approx(pipeline_s(1, 3 * us, static_cast<double>(segments), 1e9)).epsilon(1e-9));
            REQUIRE(result.closed_form_s);
            CHECK(*result.closed_form_s == Approx(result.completion_time_s).epsilon(1e-9));
            CHECK(result.messages == 2 * segments * ranks);
            CHECK(result.bytes_sent == 2 * segments * chunk * ranks);
            CHECK(result.most_bytes_sent_by_rank == segments * chunk);
        }
    }
}

TEST_CASE("in-network: latency that blocks is paid for every segment", "[memory]") {
    Cluster cluster = reducing_star(8);
    cluster.latency = Latency::blocking;
    const CollectiveResult result = reduce(cluster, 8, 10 * chunk);
    CHECK(result.completion_time_s == Approx(11 * (3 * us + static_cast<double>(chunk) / 1e9)).epsilon(1e-9));
    CHECK(*result.closed_form_s == Approx(result.completion_time_s).epsilon(1e-9));
}

TEST_CASE("in-network: bandwidth is twice that of a ring of many ranks", "[memory]") {
    const Cluster cluster = reducing_star(32);
    const std::uint64_t bytes = 800 * chunk;
    const double ring_s = allreduce(cluster, 32, 1, "ring", bytes).completion_time_s;
    const double network_s = reduce(cluster, 32, bytes).completion_time_s;
    CHECK(ring_s / network_s > 1.9);
    CHECK(ring_s / network_s < 2);
}

TEST_CASE("in-network: trees of switches pass sums on while the next segment arrives", "[memory]") {
    // Two levels of switches with two children each: two hops to the root for four ranks.
    Cluster cluster = reducing_star(4);
    cluster.fabric.topology = wired(Shape::tree, 1e9, 3 * us);
    cluster.fabric.topology.hosts = 4;
    cluster.fabric.topology.arity = 2;
    const CollectiveResult result = reduce(cluster, 4, 10 * chunk);
    CHECK(result.completion_time_s == Approx(pipeline_s(2, 3 * us, 10, 1e9)).epsilon(1e-9));
    CHECK(result.bytes_sent == 2 * 10 * chunk * (4 + 2));
    CHECK(*result.closed_form_s == Approx(result.completion_time_s).epsilon(1e-9));
    // The slowest hop determines the distance of segments: cables to the root of half the bandwidth.
    cluster.fabric.topology.bandwidth_Bps = {1e9, 0.5e9};
    const CollectiveResult slower = reduce(cluster, 4, 10 * chunk);
    const double segment_s = static_cast<double>(chunk) / 1e9;
    CHECK(slower.completion_time_s == Approx(4 * 3 * us + 2 * (1 + 2) * segment_s + 9 * 2 * segment_s).epsilon(1e-9));
    CHECK(*slower.closed_form_s == Approx(slower.completion_time_s).epsilon(1e-9));
    // Ranks below one switch need that switch alone.
    CHECK(reduce(cluster, 2, 10 * chunk).completion_time_s == Approx(pipeline_s(1, 3 * us, 10, 1e9)).epsilon(1e-9));
}

TEST_CASE("in-network: a node's switch adds up for the node's devices", "[memory]") {
    Cluster cluster = star_cluster(2, 1e9, 3 * us);
    cluster.node.devices = 8;
    cluster.node.links = NodeLinks::crossbar;
    cluster.node.link = {4e9, 1 * us};
    cluster.node.switch_reduces = true;
    for (const std::uint32_t ranks : {2u, 3u, 5u, 8u}) {
        CAPTURE(ranks);
        // A link carries the buffer and one part more: 2(N-1)/(N+1) of its bandwidth is the bus bandwidth.
        const std::uint64_t bytes = 120 * chunk;
        const CollectiveResult result = reduce(cluster, ranks, bytes);
        const double load = static_cast<double>(bytes) * (1 + 1.0 / ranks);
        CHECK(result.completion_time_s == Approx(2 * us + load / 4e9).epsilon(1e-9));
        CHECK(result.messages == ranks * (ranks - 1));
        REQUIRE(result.closed_form_s);
        CHECK(*result.closed_form_s == Approx(result.completion_time_s).epsilon(1e-9));
    }
}

TEST_CASE("in-network: ranks of a node divide the buffer among them on the way to the fabric's switches", "[memory]") {
    // Two nodes of four. By one port of 1 GB/s four parts of 25 MB take 100 ms, and 128 KiB of each once more on the
    // way down; by four ports a part takes 25 ms.
    for (const bool node_adds : {false, true}) {
        CAPTURE(node_adds);
        Cluster cluster = star_cluster(2, 1e9, 0);
        cluster.fabric.reduces = true;
        cluster.node.devices = 4;
        cluster.node.links = NodeLinks::crossbar;
        cluster.node.link = {100e9, 0};
        cluster.node.switch_reduces = node_adds;
        const CollectiveResult one = reduce(cluster, 8, 100'000'000);
        CHECK(one.completion_time_s == Approx(0.1).epsilon(0.01));
        CHECK(one.completion_time_s >= 0.1);
        CHECK_FALSE(one.closed_form_s);
        cluster.node.nics = 4;
        CHECK(reduce(cluster, 8, 100'000'000).completion_time_s == Approx(0.025).epsilon(0.01));
        // Slow links inside set the time: 125 MB with a switch that adds up, 150 MB without.
        cluster.node.link = {1e9, 0};
        CHECK(reduce(cluster, 8, 100'000'000).completion_time_s == Approx(node_adds ? 0.125 : 0.15).epsilon(0.01));
        // Ports carry the buffer once in each direction: 2 · 4 · 25 MB, and the links inside what they have to.
        CHECK(one.bytes_sent == 400'000'000 + 8 * (node_adds ? 125'000'000 : 150'000'000));
        // Unequal numbers of ranks send whole buffers.
        CHECK(reduce(cluster, 7, 1'000'000).completion_time_s >= 0.001);
    }
}

TEST_CASE("in-network: between nodes whose switches alone add up parts go through a tree of nodes", "[memory]") {
    Cluster cluster = star_cluster(8, 1e9, 0);
    cluster.node.devices = 4;
    cluster.node.nics = 4;
    cluster.node.links = NodeLinks::crossbar;
    cluster.node.link = {100e9, 0};
    cluster.node.switch_reduces = true;
    const std::uint64_t bytes = 400'000'000;
    // Two nodes: a part of 100 MB crosses each port once in each direction. More: twice, as inner nodes of one tree and
    // leaves of the other. Segments on their way add a little.
    CHECK(reduce(cluster, 8, bytes).completion_time_s == Approx(0.1).epsilon(0.03));
    CHECK(reduce(cluster, 16, bytes).completion_time_s == Approx(0.2).epsilon(0.1));
    CHECK(reduce(cluster, 32, bytes).completion_time_s == Approx(0.2).epsilon(0.1));
    // Inside, S(1 + 1/4).
    cluster.node.link = {1e9, 0};
    CHECK(reduce(cluster, 8, bytes).completion_time_s == Approx(0.5).epsilon(0.01));
    CHECK(reduce(cluster, 8, 0).completion_time_s == 0);
}

TEST_CASE("in-network: folding is off and empty buffers take two latencies", "[memory]") {
    const Cluster cluster = reducing_star(8);
    CollectivePlan plan;
    plan.ranks = 8;
    plan.algorithm.name = "in-network";
    plan.bytes = 20 * chunk;
    plan.fidelity = Fidelity::folded;
    CHECK(simulate_collective(cluster, plan).completion_time_s == reduce(cluster, 8, 20 * chunk).completion_time_s);
    CHECK(reduce(cluster, 8, 0).completion_time_s == Approx(6 * us));
    CHECK(reduce(cluster, 1, chunk).completion_time_s == 0);
    // A sweep is the same exchanges one after the other.
    plan.sweep = {chunk, 10 * chunk};
    const SweepResult sweep = simulate_sweep(cluster, plan);
    CHECK(sweep.points[0].completion_time_s == Approx(reduce(cluster, 8, chunk).completion_time_s));
    CHECK(sweep.points[1].completion_time_s == Approx(reduce(cluster, 8, 10 * chunk).completion_time_s));
}

TEST_CASE("in-network: every cable of the tree carries the buffer once in each direction on every fabric", "[memory]") {
    int with = 0;
    for (const NamedFabric& fabric : fabrics()) {
        CAPTURE(fabric.name);
        Cluster cluster = fabric.cluster(12, 0);
        cluster.fabric.reduces = true;
        const std::vector<Place> places = place_ranks(cluster, {}, 12);
        if (reduction_obstacle(cluster, places)) {
            CHECK_THROWS_AS(switch_tree(cluster, places), AlgorithmError);
            continue;
        }
        const SwitchTree tree = switch_tree(cluster, places);
        const CollectiveResult result = reduce(cluster, 12, 10 * chunk);
        // Each of the k ranks of a node sends a k-th, and the switches above those of its number pass it on; inside,
        // each sends 2(k-1)/k of the buffer.
        const std::uint64_t each = tree.node_ranks(), part = 10 * chunk / each;
        std::uint64_t sent = 12 * 2 * (each - 1) * part;
        for (std::uint32_t number = 0; number < each; ++number) {
            std::set<std::uint32_t> passing{0};
            for (std::uint32_t rank = 0; rank < 12; ++rank)
                if (each == 1 || places[rank].device == number)
                    for (std::uint32_t at = tree.above_rank[rank]; at != 0; at = tree.above_switch[at])
                        passing.insert(at);
            sent += 2 * part * (12 / each + passing.size() - 1);
        }
        CHECK(result.bytes_sent == sent);
        CHECK(result.most_bytes_sent_by_rank == part + 2 * (each - 1) * part);
        if (result.closed_form_s) CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-9));
        CHECK(result.completion_time_s > static_cast<double>(part + chunk / 2) / bandwidth);
        ++with;
    }
    CHECK(with >= 4);
}

TEST_CASE("in-network: iterations equal the recurrence over buckets", "[memory]") {
    std::mt19937 random(5);
    for (int round = 0; round < 12; ++round) {
        Cluster cluster = test::plain_star(2e9, 6 * us);
        cluster.fabric.reduces = true;
        const Model model = test::random_layers(random, 1 + random() % 8, chunk, 20);
        Plan plan;
        plan.ranks = 2 + random() % 7;
        plan.batch_per_rank = 1;
        plan.algorithm.name = "in-network";
        plan.overlap = round % 2 == 0 ? Overlap::none : Overlap::wait_free;
        if (round % 3 == 0) plan.fusion.threshold_bytes = 10.0 * chunk;
        CAPTURE(round, plan.ranks);
        const Result result = simulate(lower(cluster, model, plan));
        REQUIRE(result.closed_form.iteration_time_s);
        CHECK(result.time.iteration_s == Approx(*result.closed_form.iteration_time_s).epsilon(1e-9));
        CHECK(result.bytes_sent == 2 * static_cast<std::uint64_t>(plan.ranks) * result.gradient_bytes);
    }
}

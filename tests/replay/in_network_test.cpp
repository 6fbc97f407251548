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
    for (const std::uint32_t ranks : {2u, 5u, 8u}) {
        const CollectiveResult result = reduce(cluster, ranks, 10 * chunk);
        CHECK(result.completion_time_s == Approx(pipeline_s(1, 1 * us, 10, 4e9)).epsilon(1e-9));
        CHECK(result.messages == 2 * 10 * ranks);
        CHECK(*result.closed_form_s == Approx(result.completion_time_s).epsilon(1e-9));
    }
    // Eight ranks of a node that share its port send eight buffers through it.
    cluster.fabric.reduces = true;
    const CollectiveResult both = reduce(cluster, 16, 10 * chunk);
    CHECK(both.completion_time_s > 8 * 10 * static_cast<double>(chunk) / 1e9);
    CHECK_FALSE(both.closed_form_s);
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
        CHECK(result.bytes_sent == 2 * 10 * chunk * (12 + tree.switches() - 1));
        CHECK(result.most_bytes_sent_by_rank == 10 * chunk);
        if (result.closed_form_s) CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-9));
        CHECK(result.completion_time_s > 11 * static_cast<double>(chunk) / bandwidth);
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

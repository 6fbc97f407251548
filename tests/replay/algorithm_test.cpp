#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/iteration/exchange.hpp"
#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"

// Compares every algorithm on SimGrid's star with its closed form, which tests/unit checks against an independent
// clock.

using namespace syncline;

namespace {

constexpr double bandwidth = 3.125e9;
constexpr double link_latency = 1e-6;

double simulated(const std::shared_ptr<const CollectiveAlgorithm>& algorithm, std::uint32_t ranks, std::uint64_t bytes,
                 double reduction_Bps, Latency latency) {
    Cluster cluster;
    cluster.latency = latency;
    cluster.nodes = ranks;
    cluster.fabric.topology.bandwidth_Bps = {bandwidth};
    cluster.fabric.topology.latency_s = {link_latency};
    cluster.device.reduction_Bps = reduction_Bps;
    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) workers.push_back(graph.add_process({{rank}}));
    add_collectives(graph, workers, {{bytes, algorithm}}, {}, cluster);
    graph.seal();
    return replay_isolated(cluster, graph, {}).iteration_end_s.front();
}

/// Checks all sizes, with and without a cost of reduction.
void check(const AlgorithmSpec& spec, std::uint32_t ranks) {
    const auto algorithm = make_algorithm(spec, ranks);
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{4}, std::uint64_t{1000} * ranks,
                                      std::uint64_t{1000} * ranks + 7, std::uint64_t{100'000'000}}) {
        for (const double reduction_Bps : {unlimited, 25e9}) {
            CAPTURE(spec.name, ranks, bytes, reduction_Bps);
            for (const Latency latency : {Latency::blocking, Latency::travelling}) {
                const bool travels = latency == Latency::travelling;
                const auto closed =
                    algorithm->cost(ranks, bytes, {2 * link_latency, 1 / bandwidth, 1 / reduction_Bps, travels});
                CAPTURE(travels);
                if (!travels) REQUIRE(closed);
                if (closed)
                    CHECK(simulated(algorithm, ranks, bytes, reduction_Bps, latency) == Approx(*closed).epsilon(1e-6));
            }
        }
    }
}

TopologySpec overlay(Shape shape, std::vector<HierarchyLevel> levels = {}) {
    TopologySpec spec;
    spec.shape = shape;
    spec.levels = std::move(levels);
    return spec;
}

}  // namespace

TEST_CASE("recursive doubling, direct all-to-all and gossip equal their closed forms on SimGrid") {
    for (const std::uint32_t n : {2u, 3u, 5u, 8u, 13u, 32u}) {
        check({.name = "recursive-doubling", .overlay = {}}, n);
        check({.operation = "all-to-all", .name = "direct", .overlay = {}}, n);
        check({.operation = "neighbour-exchange", .name = "gossip", .overlay = {}}, n);
        for (const Shape shape : {Shape::star, Shape::ring, Shape::tree}) {
            for (const bool one_peer : {false, true}) {
                check({.operation = "neighbour-exchange",
                       .name = "gossip",
                       .overlay = overlay(shape),
                       .peers = one_peer ? Peers::one : Peers::all},
                      n);
            }
        }
    }
}

TEST_CASE("trees and hierarchies equal their closed forms on SimGrid") {
    for (const std::uint32_t n : {3u, 7u, 15u, 31u}) check({.name = "pipelined-tree", .overlay = {}}, n);
    for (const std::uint32_t n : {2u, 6u, 20u}) {
        check({.name = "pipelined-tree", .overlay = overlay(Shape::star), .segment_bytes = 1e6}, n);
    }
    for (const std::uint32_t n : {4u, 12u, 32u}) {
        const TopologySpec rings = overlay(Shape::hierarchical, {{Shape::ring, 2}, {Shape::ring, 2}, {Shape::ring, 0}});
        const TopologySpec stars = overlay(Shape::hierarchical, {{Shape::star, 4}, {Shape::star, 0}});
        for (const std::uint32_t more : {0u, 1u, 3u}) {
            check({.name = "hierarchical-leaders", .overlay = rings}, n + more);
            check({.name = "hierarchical-leaders", .overlay = stars}, n + more);
        }
        check({.name = "hierarchical", .overlay = rings}, n);
        check({.name = "hierarchical", .overlay = stars}, n);
    }
}

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"
#include "tests/replay/worlds.hpp"

// Loads whose times depend on the last digits of those before: a pairwise all-to-all on a torus, and a ring in random
// order over cables that many hosts share. Two exact solvers differ there (sim/replay/README.md), so that digits say
// nothing. What must hold for any solver: every byte crosses every link of its way, no link carries more than its rate,
// and latencies longer by a ten-billionth change the time little.

using namespace syncline;

namespace {

constexpr double bandwidth = 1e9;

struct Load {
    TopologySpec fabric;
    std::uint32_t hosts;
    AlgorithmSpec algorithm;
    RankPlacement placement;
    std::uint64_t bytes;

    Timeline replayed(double latency_s) const {
        TopologySpec spec = fabric;
        spec.latency_s = {latency_s};
        return replay_alone(cluster_on(spec, hosts), make_algorithm(algorithm, hosts), hosts, bytes, placement);
    }
};

/// Checks bounds of the time and its sensitivity; returns the bytes on all links.
std::uint64_t check(const Load& load) {
    constexpr double latency_s = 1e-6;
    const Timeline timeline = load.replayed(latency_s);
    double busiest_s = 0, all_s = 0;
    std::uint64_t bytes = 0;
    for (const LinkUse& link : timeline.links) {
        const double seconds = static_cast<double>(link.bytes) / link.bandwidth_Bps;
        busiest_s = std::max(busiest_s, seconds);
        all_s += seconds;
        bytes += link.bytes;
    }
    const double end_s = timeline.iteration_end_s.front();
    CAPTURE(end_s, busiest_s);
    CHECK(end_s > busiest_s * (1 - 1e-9));
    // As long as any message is under way, some link is full. Latencies add up along a chain of messages at most.
    CHECK(end_s < all_s + static_cast<double>(timeline.messages) * 20 * latency_s);
    const double later_s = load.replayed(latency_s * (1 + 1e-10)).iteration_end_s.front();
    CHECK(std::abs(later_s - end_s) < 0.02 * end_s);
    for (std::uint32_t rank = 0; rank < load.hosts; ++rank) CHECK(timeline.sent_by[rank] == timeline.received_by[rank]);
    return bytes;
}

}  // namespace

TEST_CASE("crowded: a pairwise all-to-all on a torus") {
    for (const auto& [x, y, z] : {std::array{4u, 4u, 4u}, {5u, 4u, 3u}, {6u, 6u, 2u}}) {
        CAPTURE(x, y, z);
        Load load{wired(Shape::torus, bandwidth, 0), x * y * z, {}, {}, 0};
        load.fabric.dimensions = {x, y, z};
        load.algorithm.operation = "all-to-all";
        load.algorithm.name = "pairwise";
        constexpr std::uint64_t block = 100'000;
        load.bytes = block * load.hosts;
        // Distances of one host to all others: around a ring of n they add up to the whole part of n²/4.
        const std::uint64_t n = load.hosts, hops = x * x / 4 * (n / x) + y * y / 4 * (n / y) + z * z / 4 * (n / z);
        CHECK(check(load) == n * hops * block);
    }
}

TEST_CASE("crowded: a ring in random order over a tree with many hosts on a cable") {
    for (const std::uint32_t leaves : {3u, 8u}) {
        CAPTURE(leaves);
        Load load{wired(Shape::tree, bandwidth, 0), 8 * leaves, {}, {}, 2'400'000};
        load.fabric.arity = 8;
        load.fabric.depth = 2;
        load.fabric.hosts = load.hosts;
        load.fabric.bandwidth_Bps.push_back(2 * bandwidth);
        load.algorithm.name = "ring";
        load.placement.order = RankPlacement::Order::random;
        // Two cables within a leaf, four between leaves.
        const std::uint64_t sent = 2 * (load.hosts - 1) * (load.bytes / load.hosts) * load.hosts;
        const std::uint64_t bytes = check(load);
        CHECK(bytes >= 2 * sent);
        CHECK(bytes <= 4 * sent);
    }
}

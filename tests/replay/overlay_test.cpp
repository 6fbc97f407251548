#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/analysis/experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/worlds.hpp"

// An overlay on a fabric of the same shape, and on one of another shape.

using namespace syncline;

namespace {

constexpr double bandwidth = 2e9;

Cluster ring_fabric(std::uint32_t hosts, double latency_s, double reduction_Bps = unlimited) {
    Cluster cluster = cluster_on(wired(Shape::ring, bandwidth, latency_s), hosts);
    cluster.device.reduction_Bps = reduction_Bps;
    return cluster;
}

CollectiveResult ring_allreduce(const Cluster& cluster, std::uint64_t bytes, const RankPlacement& placement = {}) {
    CollectivePlan plan;
    plan.ranks = cluster.nodes;
    plan.placement = placement;
    plan.bytes = bytes;
    return simulate_collective(cluster, plan);
}

/// Counts how often the ring of ranks uses each directed link of a ring of hosts, in the shorter direction, by name.
/// With an odd number of hosts no two paths are equally short.
struct Loads {
    Loads(const std::vector<Place>& places, std::uint32_t hosts) {
        for (std::size_t rank = 0; rank < places.size(); ++rank) {
            const std::uint32_t from = places[rank].node, to = places[(rank + 1) % places.size()].node;
            const std::uint32_t ahead = (to + hosts - from) % hosts;
            const bool up = 2 * ahead < hosts;
            const std::uint32_t distance = up ? ahead : hosts - ahead;
            farthest = std::max(farthest, distance);
            for (std::uint32_t i = 0, at = from; i < distance; ++i) {
                const std::uint32_t next = (at + (up ? 1 : hosts - 1)) % hosts;
                most = std::max(most, ++of_link[fmt::format("host-{}->host-{}", at, next)]);
                at = next;
            }
        }
    }

    std::map<std::string, std::uint32_t> of_link;
    std::uint32_t most = 0, farthest = 0;
};

RankPlacement random_order(std::uint64_t seed) {
    RankPlacement placement;
    placement.order = RankPlacement::Order::random;
    placement.seed = seed;
    return placement;
}

}  // namespace

TEST_CASE("a ring all-reduce on a ring of cables takes 2(N-1)(α + ⌈S/N⌉β) + (N-1)⌈S/N⌉γ with α of one cable") {
    constexpr double latency = 3e-6;
    for (std::uint32_t n = 2; n <= 48; n += n < 17 ? 1 : 7) {
        for (const std::uint64_t bytes : {0ull, 1ull, 1001ull, 1'000'003ull, 100'000'000ull}) {
            for (const double reduction_Bps : {unlimited, 20e9}) {
                CAPTURE(n, bytes, reduction_Bps);
                const CollectiveResult result = ring_allreduce(ring_fabric(n, latency, reduction_Bps), bytes);
                const auto block = static_cast<double>((bytes + n - 1) / n);
                const double expected = 2.0 * (n - 1) * (latency + block / bandwidth) + (n - 1) * block / reduction_Bps;
                CHECK(result.completion_time_s == Approx(expected).epsilon(1e-9));
                CHECK(result.closed_form_s.value() == Approx(expected).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE("ranks in random order on a ring of cables are limited by the most loaded link, which the report names",
          "[memory]") {
    for (const std::uint32_t n : {7u, 9u, 15u, 23u, 33u}) {
        const std::uint64_t block = 30'000, bytes = n * block;
        const double steps = 2.0 * (n - 1), transfer_s = static_cast<double>(block) / bandwidth;
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            CAPTURE(n, seed);
            const Cluster cluster = ring_fabric(n, 0);
            const Loads loads(place_ranks(cluster, random_order(seed), n), n);
            if (n > 7) REQUIRE(loads.most > 1);  // with few ranks, an order may use every link once in each direction

            // All blocks of the exchange cross that link, and no message gets less than its share of it.
            const CollectiveResult result = ring_allreduce(cluster, bytes, random_order(seed));
            CHECK(result.completion_time_s == Approx(steps * loads.most * transfer_s).epsilon(1e-9));
            const double in_order_s = ring_allreduce(cluster, bytes).completion_time_s;
            CHECK(result.completion_time_s / in_order_s == Approx(loads.most).epsilon(1e-9));

            REQUIRE_FALSE(result.links.empty());
            const LinkLoad& busiest = result.links.front();
            CHECK(loads.of_link.at(busiest.name) == loads.most);
            CHECK(busiest.bytes == 2 * (n - 1) * block * loads.most);
            CHECK(busiest.utilisation == Approx(1).epsilon(1e-9));
            for (const LinkLoad& link : result.links) {
                CHECK(link.bytes == 2 * (n - 1) * block * loads.of_link.at(link.name));
                CHECK(link.utilisation <= busiest.utilisation);
            }
        }
    }
}

TEST_CASE("with latency, a random order takes between the loaded link's transfers and these plus the longest route",
          "[memory]") {
    constexpr double latency = 5e-6;
    for (const std::uint32_t n : {7u, 13u, 27u}) {
        const std::uint64_t block = 40'000;
        const double steps = 2.0 * (n - 1), transfer_s = static_cast<double>(block) / bandwidth;
        for (std::uint64_t seed = 10; seed <= 14; ++seed) {
            CAPTURE(n, seed);
            const Cluster cluster = ring_fabric(n, latency);
            const Loads loads(place_ranks(cluster, random_order(seed), n), n);
            const double time_s = ring_allreduce(cluster, n * block, random_order(seed)).completion_time_s;
            CHECK(time_s >= steps * loads.most * transfer_s * (1 - 1e-9));
            CHECK(time_s <= steps * (loads.most * transfer_s + loads.farthest * latency) * (1 + 1e-9));
            CHECK(time_s > ring_allreduce(cluster, n * block).completion_time_s);
        }
    }
}

TEST_CASE("static exponential gossip sends ⌈lg n⌉·S per rank, more than ring gossip's 2S from five ranks on",
          "[memory]") {
    for (std::uint32_t n = 2; n <= 64; n += n < 18 ? 1 : 23) {
        const auto sent = [&](Shape shape, bool directed, bool one_peer) {
            CollectivePlan plan;
            plan.ranks = n;
            plan.bytes = 1000;
            plan.algorithm = {.operation = "neighbour-exchange",
                              .name = "gossip",
                              .overlay = TopologySpec{},
                              .peers = one_peer ? Peers::one : Peers::all};
            plan.algorithm.overlay->shape = shape;
            plan.algorithm.overlay->directed = directed;
            return simulate_collective(star_cluster(n, 1e9, 1e-6), plan).most_bytes_sent_by_rank;
        };
        CAPTURE(n);
        const std::uint64_t exponential = sent(Shape::exponential, true, false), ring = sent(Shape::ring, false, false);
        CHECK(exponential == 1000 * static_cast<std::uint64_t>(std::bit_width(n - 1)));
        CHECK(ring == (n == 2 ? 1000 : 2000));
        CHECK((exponential > ring) == (n >= 5));
        CHECK(sent(Shape::exponential, true, true) == 1000);
    }
}

#include <functional>

#include "sim/analysis/experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/topology/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/replay/worlds.hpp"

// Cost of an exchange across the root of an oversubscribed tree. N hosts in racks of r; c bytes from each to each.
//
// A rack's uplink carries r(N-r)c bytes, a host's cable (N-1)c. Without oversubscription the hosts' cables are the
// bottleneck; at 4:1 the rack's uplink has rB/4 and takes 4(N-r)c/B, more than the hosts' cables with two or more
// racks.

using namespace syncline;

namespace {

constexpr double bandwidth = 1e9;
constexpr double latency = 1e-6;
constexpr double across_s = 4 * latency;  // host, rack, root, rack, host
constexpr std::uint64_t block = 10'000;

struct Racks {
    std::uint32_t count = 2, size = 4;

    std::uint32_t hosts() const { return count * size; }
    std::uint32_t of(std::uint32_t host) const { return host / size; }

    /// Returns a tree in which each rack's uplink has the bandwidth of its hosts divided by `oversubscription`.
    Cluster tree(double oversubscription) const {
        TopologySpec spec = wired(Shape::tree, bandwidth, latency);
        spec.arity = size;
        spec.depth = 2;
        spec.hosts = hosts();
        spec.bandwidth_Bps.push_back(bandwidth * size / oversubscription);
        return cluster_on(spec, hosts());
    }
};

/// Returns trees with as many racks as a root with room for `size` of them, at least two.
std::vector<Racks> several_racks() {
    std::vector<Racks> result;
    for (const std::uint32_t size : {2u, 3u, 4u, 5u, 8u}) {
        for (std::uint32_t count = 2; count <= size; ++count) result.push_back({count, size});
    }
    return result;
}

/// Sends one block from each rank to each other rank for which `meets` is true; it must be symmetric.
class SomeToSome : public CollectiveAlgorithm {
public:
    using Meets = std::function<bool(std::uint32_t, std::uint32_t)>;
    explicit SomeToSome(Meets meets) : meets_(std::move(meets)) {}

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        Step step;
        for (std::uint32_t other = 0; other < ranks; ++other) {
            if (other == rank || !meets_(rank, other)) continue;
            step.sends.push_back({other, other});
            step.receives.push_back({other, rank});
        }
        return {{bytes, ranks}, {step}};
    }
    std::optional<double> cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return {}; }
    std::string formula(bool) const override { return "none"; }

private:
    Meets meets_;
};

double seconds(const Cluster& cluster, std::uint32_t hosts, const SomeToSome::Meets& meets) {
    return replay_alone(cluster, std::make_shared<SomeToSome>(meets), hosts, block * hosts).iteration_end_s.front();
}

CollectiveResult all_to_all(const Cluster& cluster, std::uint32_t ranks, const RankPlacement& placement = {}) {
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.placement = placement;
    plan.algorithm.operation = "all-to-all";
    plan.algorithm.name = "direct";
    plan.bytes = block * ranks;
    return simulate_collective(cluster, plan);
}

double bisection_Bps(const Cluster& cluster) {
    const TopologySpec& spec = cluster.fabric.topology;
    const Metrics metrics = measure_topology(spec, make_topology(spec, Use::fabric));
    REQUIRE(metrics.bisection_exact);
    return metrics.bisection_Bps.value();
}

}  // namespace

TEST_CASE("a tree oversubscribed 4:1 slows an all-to-all across its root by 4(N-r)/(N-1)", "[memory]") {
    for (const Racks& racks : several_racks()) {
        const double n = racks.hosts(), r = racks.size, transfer_s = block / bandwidth;
        CAPTURE(racks.count, racks.size);
        const double wide_s = all_to_all(racks.tree(1), racks.hosts()).completion_time_s;
        const CollectiveResult narrow = all_to_all(racks.tree(4), racks.hosts());
        CHECK(wide_s == Approx(across_s + (n - 1) * transfer_s).epsilon(1e-9));
        CHECK(narrow.completion_time_s == Approx(across_s + 4 * (n - r) * transfer_s).epsilon(1e-9));
        CHECK((narrow.completion_time_s - across_s) / (wide_s - across_s) ==
              Approx(4 * (n - r) / (n - 1)).epsilon(1e-9));
        // The busiest link is a rack's to the root, and it carries r(N-r) blocks.
        REQUIRE_FALSE(narrow.links.empty());
        CHECK(narrow.links.front().bytes == std::uint64_t{racks.size} * (racks.hosts() - racks.size) * block);
        CHECK(narrow.links.front().name.find("host") == std::string::npos);
    }
}

TEST_CASE("traffic that crosses only the root is slowed by exactly the factor of the oversubscription") {
    for (const Racks& racks : several_racks()) {
        const auto other_rack = [&](std::uint32_t a, std::uint32_t b) { return racks.of(a) != racks.of(b); };
        for (const double oversubscription : {2.0, 4.0, 16.0}) {
            CAPTURE(racks.count, racks.size, oversubscription);
            const double wide_s = seconds(racks.tree(1), racks.hosts(), other_rack) - across_s;
            const double narrow_s = seconds(racks.tree(oversubscription), racks.hosts(), other_rack) - across_s;
            CHECK(narrow_s / wide_s == Approx(oversubscription).epsilon(1e-9));
        }
    }
}

TEST_CASE("an exchange between two halves of a tree takes its bytes divided by the bisection bandwidth", "[memory]") {
    for (const Racks& racks : several_racks()) {
        if (racks.count % 2 != 0) continue;
        const std::uint32_t half = racks.hosts() / 2;
        const auto other_half = [&](std::uint32_t a, std::uint32_t b) { return (a < half) != (b < half); };
        const double bytes = static_cast<double>(block) * half * half;
        for (const double oversubscription : {1.0, 4.0}) {
            CAPTURE(racks.count, racks.size, oversubscription);
            const Cluster tree = racks.tree(oversubscription);
            const double bisection = bisection_Bps(tree);
            CHECK(bisection == Approx(bandwidth * half / oversubscription));
            CHECK(seconds(tree, racks.hosts(), other_half) == Approx(across_s + bytes / bisection).epsilon(1e-9));
            // The traffic between the two halves is a part of an all-to-all, which the rest only slows down.
            CHECK(all_to_all(tree, racks.hosts()).completion_time_s >= bytes / bisection);
        }
    }
}

TEST_CASE("an all-to-all inside one rack of an oversubscribed tree takes as long as on a star", "[memory]") {
    for (const Racks& racks : several_racks()) {
        CAPTURE(racks.count, racks.size);
        const double star_s =
            all_to_all(cluster_on(wired(Shape::star, bandwidth, latency), racks.size), racks.size).completion_time_s;
        CHECK(star_s == Approx(2 * latency + (racks.size - 1) * (block / bandwidth)).epsilon(1e-9));
        for (std::uint32_t rack = 0; rack < racks.count; ++rack) {
            RankPlacement placement;
            placement.order = RankPlacement::Order::listed;
            for (std::uint32_t i = 0; i < racks.size; ++i) placement.devices.push_back(rack * racks.size + i);
            CHECK(all_to_all(racks.tree(4), racks.size, placement).completion_time_s == star_s);
        }
    }
}

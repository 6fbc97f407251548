#include <cstdint>

#include "sim/analysis/experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"

// Compares every operation's algorithms on SimGrid's star with their closed forms, which tests/unit checks against an
// independent clock and against the literature.

using namespace syncline;

namespace {

/// Checks groups of powers of two and others, with blocks of equal size.
void check(const AlgorithmSpec& spec, std::initializer_list<std::uint32_t> groups) {
    for (const std::uint32_t n : groups) {
        for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{64} * n, std::uint64_t{640'000} * n}) {
            for (const double reduction_Bps : {unlimited, 25e9}) {
                if (bytes == 0 && reduction_Bps == unlimited) continue;
                Cluster cluster;
                cluster.nodes = 64;
                cluster.fabric.topology.bandwidth_Bps = {3.125e9};
                cluster.fabric.topology.latency_s = {1e-6};
                cluster.device.reduction_Bps = reduction_Bps;
                CollectivePlan plan;
                plan.ranks = n;
                plan.bytes = bytes;
                plan.algorithm = spec;
                CAPTURE(spec.operation, spec.name, n, spec.contributors, spec.receivers, bytes, reduction_Bps);
                for (const Latency latency : {Latency::blocking, Latency::travelling}) {
                    cluster.latency = latency;
                    const CollectiveResult result = simulate_collective(cluster, plan);
                    if (latency == Latency::blocking) REQUIRE(result.closed_form_s);
                    if (result.closed_form_s)
                        CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-6));
                }
            }
        }
    }
}

void check(const std::string& operation, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const AlgorithmSpec spec{.operation = operation, .name = name};
        if (spec.name == "direct")
            check(spec, {2, 3, 8, 13, 20});  // all concurrently, which is slow to simulate
        else
            check(spec, {2, 3, 7, 8, 13, 21, 32, 47, 64});
    }
}

}  // namespace

TEST_CASE("all-reduces equal their closed forms on SimGrid") {
    check("allreduce", {"rabenseifner", "direct"});
    check({.name = "segmented-ring", .segment_bytes = 160'000}, {2, 3, 8, 13, 32, 47, 64});
}

TEST_CASE("reduce-scatters equal their closed forms on SimGrid") {
    check("reduce-scatter", {"ring", "recursive-halving", "pat", "direct"});
}

TEST_CASE("allgathers equal their closed forms on SimGrid") {
    check("allgather", {"ring", "recursive-doubling", "bruck", "pat", "direct"});
}

TEST_CASE("exchanges with a root equal their closed forms on SimGrid") {
    check("broadcast", {"scatter-allgather", "direct"});
    check("reduce", {"direct"});
    check("scatter", {"binomial-tree", "direct"});
    check("gather", {"binomial-tree", "direct"});
}

TEST_CASE("all-to-alls and barriers equal their closed forms on SimGrid") {
    check("all-to-all", {"pairwise", "bruck"});
    check("barrier", {"dissemination"});
}

TEST_CASE("algorithms with fewer contributors and receivers equal their closed forms on SimGrid") {
    for (const std::uint32_t contributors : {1u, 2u, 16u}) {  // divide all the buffers
        for (const std::uint32_t receivers : {1u, 4u, 21u}) {
            AlgorithmSpec spec{.operation = "allgather", .contributors = contributors, .receivers = receivers};
            for (const char* name : {"ring", "padded-ring", "ring-broadcast"}) {
                spec.name = name;
                check(spec, {21});
            }
            spec.segment_bytes = 21 * 16'000;  // 40 segments of the largest buffer, one of the others
            check(spec, {21});
            spec = {.name = "reduce-scatter-allgather", .contributors = contributors, .receivers = receivers};
            check(spec, {21});
        }
    }
}

TEST_CASE("unequal blocks have a closed form that equals the simulation, or none") {
    Cluster cluster;
    cluster.nodes = 64;
    cluster.fabric.topology.bandwidth_Bps = {1e9};
    cluster.fabric.topology.latency_s = {1e-9};  // so that a byte takes as long as a link's latency
    cluster.device.reduction_Bps = 2e9;
    int with = 0, without = 0;
    for (const std::string& operation : operation_names()) {
        for (const std::string& name : algorithm_names(operation)) {
            if (operation == "neighbour-exchange" || name.starts_with("hierarchical")) continue;  // they need overlays
            for (const std::uint32_t n : {2u, 3u, 4u, 6u, 8u, 13u}) {
                for (const std::uint64_t bytes : {1u, 5u, 1003u}) {
                    CAPTURE(operation, name, n, bytes);
                    CollectivePlan plan;
                    plan.ranks = n;
                    plan.bytes = bytes;
                    plan.algorithm = {.operation = operation, .name = name};
                    const CollectiveResult result = simulate_collective(cluster, plan);
                    ++(result.closed_form_s ? with : without);
                    if (result.closed_form_s)
                        CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-6));
                }
            }
        }
    }
    CHECK(with > 100);
    CHECK(without > 30);
}

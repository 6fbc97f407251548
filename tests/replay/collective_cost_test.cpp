#include <cstdint>

#include "sim/analysis/experiment.hpp"
#include "tests/catch.hpp"

// Every operation's algorithms on SimGrid's star against their closed forms, which tests/unit checks against a clock of
// its own and against the literature's.

using namespace syncline;

namespace {

/// As large groups as powers of two and not; blocks are equal where `bytes` divides by them and their power of two.
void check(AlgorithmSpec spec) {
    for (const std::uint32_t n : {2u, 3u, 7u, 8u, 13u, 21u, 32u, 47u, 64u}) {
        for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{64} * n, std::uint64_t{640'000} * n}) {
            for (const double reduction_Bps : {unlimited, 25e9}) {
                Cluster cluster;
                cluster.nodes = 64;
                cluster.fabric.topology.bandwidth_Bps = {3.125e9};
                cluster.fabric.topology.latency_s = {1e-6};
                cluster.device.reduction_Bps = reduction_Bps;
                CollectivePlan plan;
                plan.ranks = n;
                plan.bytes = bytes;
                plan.algorithm = spec;
                CAPTURE(spec.operation, spec.name, n, bytes, reduction_Bps);
                const CollectiveResult result = simulate_collective(cluster, plan);
                REQUIRE(result.closed_form_s);
                CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-6));
                if (bytes == 0) break;
            }
        }
    }
}

void check(const std::string& operation, std::initializer_list<const char*> names) {
    for (const char* name : names) check(AlgorithmSpec{.operation = operation, .name = name});
}

}  // namespace

TEST_CASE("all-reduces equal their closed forms on SimGrid") {
    check("allreduce", {"rabenseifner"});
    check({.name = "segmented-ring", .segment_bytes = 160'000});
}

TEST_CASE("reduce-scatters equal their closed forms on SimGrid") {
    check("reduce-scatter", {"ring", "recursive-halving"});
}

TEST_CASE("allgathers equal their closed forms on SimGrid") {
    check("allgather", {"ring", "recursive-doubling", "bruck"});
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

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"

// Trees on SimGrid's star among 2 to 64 ranks: compares the simulated time with formulas that are written down here
// again.

using namespace syncline;

namespace {

constexpr double bandwidth = 3.125e9, link_latency = 1e-6, reduction_Bps = 25e9;

/// Returns the time of `steps` steps with messages of `bytes`.
double seconds(const std::string& operation, double steps, double bytes) {
    const double transfer = 2 * link_latency + bytes / bandwidth;
    const double up = operation == "broadcast" ? 0 : transfer + bytes / reduction_Bps;
    return steps * (up + (operation == "reduce" ? 0 : transfer));
}

CollectiveResult simulated(const AlgorithmSpec& spec, std::uint32_t ranks, std::uint64_t bytes) {
    Cluster cluster;
    cluster.nodes = ranks;
    cluster.latency = Latency::blocking;
    cluster.fabric.topology.bandwidth_Bps = {bandwidth};
    cluster.fabric.topology.latency_s = {link_latency};
    cluster.device.reduction_Bps = reduction_Bps;
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.algorithm = spec;
    plan.bytes = bytes;
    return simulate_collective(cluster, plan);
}

const std::vector<std::string> operations{"allreduce", "broadcast", "reduce"};

}  // namespace

TEST_CASE("binomial trees among 2 to 64 ranks take ⌈lg N⌉ steps of the whole buffer on SimGrid") {
    for (std::uint32_t n = 2; n <= 64; ++n) {
        for (const std::string& operation : operations) {
            for (const std::uint64_t bytes : {std::uint64_t{4}, std::uint64_t{10'000'001}}) {
                CAPTURE(n, operation, bytes);
                const CollectiveResult result =
                    simulated({.operation = operation, .name = "binomial-tree", .overlay = {}}, n, bytes);
                const double expected = seconds(operation, std::ceil(std::log2(n)), static_cast<double>(bytes));
                CHECK(result.completion_time_s == Approx(expected).epsilon(1e-6));
                CHECK(result.closed_form_s.value() == Approx(expected).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE("pipelined trees among 2 to 64 ranks take A + k(m-1) steps of a segment on SimGrid") {
    constexpr std::uint32_t segments = 5, segment = 100'000;
    for (std::uint32_t n = 2; n <= 64; ++n) {
        std::vector<std::uint32_t> first_step(n, 0);
        std::uint32_t last = 0;
        for (std::uint32_t rank = 1; rank < n; ++rank) {
            first_step[rank] = first_step[(rank - 1) / 2] + (rank % 2 == 1 ? 1 : 2);
            last = std::max(last, first_step[rank]);
        }
        for (const std::string& operation : operations) {
            CAPTURE(n, operation);
            const AlgorithmSpec spec{
                .operation = operation, .name = "pipelined-tree", .overlay = {}, .segment_bytes = segment};
            const CollectiveResult result = simulated(spec, n, segments * segment);
            const double steps = last + (n > 2 ? 2 : 1) * (segments - 1.0);
            CHECK(result.completion_time_s == Approx(seconds(operation, steps, segment)).epsilon(1e-6));
            CHECK(result.closed_form_s.value() == Approx(result.completion_time_s).epsilon(1e-6));
        }
    }
}

TEST_CASE(
    "double binary trees among 2 to 64 ranks equal their closed form on SimGrid, with 2 steps per further segment") {
    constexpr std::uint32_t segment = 100'000;
    for (std::uint32_t n = 2; n <= 64; ++n) {
        for (const std::string& operation : operations) {
            CAPTURE(n, operation);
            const AlgorithmSpec spec{
                .operation = operation, .name = "double-binary-tree", .overlay = {}, .segment_bytes = segment};
            const CollectiveResult short_one = simulated(spec, n, 2 * segment),
                                   long_one = simulated(spec, n, 10 * segment);
            for (const CollectiveResult& result : {short_one, long_one})
                CHECK(result.completion_time_s == Approx(result.closed_form_s.value()).epsilon(1e-6));
            CHECK(long_one.completion_time_s - short_one.completion_time_s ==
                  Approx(seconds(operation, 2 * 4, segment)).epsilon(1e-6));
            const double most_steps = 2 * std::ceil(std::log2(n));
            CHECK(short_one.completion_time_s <= seconds(operation, most_steps, segment) * (1 + 1e-6));
        }
    }
}

TEST_CASE("with large buffers two trees take half of the time of one, and as much as a ring", "[memory]") {
    for (const std::uint32_t n : {8u, 15u, 32u}) {
        const std::uint64_t bytes = 1'000'000'000;
        const auto time_s = [&](const std::string& name, double segment) {
            return simulated({.name = name, .overlay = {}, .segment_bytes = segment}, n, bytes).completion_time_s;
        };
        const double two = time_s("double-binary-tree", 1e6), one = time_s("pipelined-tree", 1e6);
        CAPTURE(n, two, one);
        CHECK(one / two == Approx(2).epsilon(0.02));
        // Except for γ, which a ring spends on (N-1)/N of the buffer as well: 2S compared with 2(N-1)/N·S.
        CHECK(two / time_s("ring", 0) == Approx(n / (n - 1.0)).epsilon(0.03));
    }
}

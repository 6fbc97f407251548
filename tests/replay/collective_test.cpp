#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "tests/catch.hpp"
#include "tests/replay/allreduce.hpp"

// Single exchanges on a star, at message level, against formulas that are written out here again. `replay_isolated`
// runs each simulation in a process of its own.

using namespace syncline;

namespace {

constexpr double bandwidth = 3.125e9;
constexpr double link_latency = 1e-6;
constexpr double alpha = 2 * link_latency;

Cluster star(double reduction_Bps = unlimited) {
    Cluster cluster;
    cluster.nodes = 4096;
    cluster.fabric.topology.bandwidth_Bps = {bandwidth};
    cluster.fabric.topology.latency_s = {link_latency};
    cluster.device.reduction_Bps = reduction_Bps;
    cluster.host.reduction_Bps = reduction_Bps;
    return cluster;
}

double ceil_div(std::uint64_t a, std::uint64_t b) {
    return static_cast<double>((a + b - 1) / b);
}

void check_ring(std::uint32_t n, std::uint64_t bytes, double reduction_Bps) {
    CAPTURE(n, bytes, reduction_Bps);
    const CollectiveResult result = allreduce(star(reduction_Bps), n, 1, "ring", bytes);
    const double block = ceil_div(bytes, n);
    const double expected = 2.0 * (n - 1) * (alpha + block / bandwidth) + (n - 1) * block / reduction_Bps;
    CHECK(result.completion_time_s == Approx(expected).epsilon(1e-6));
    CHECK(result.closed_form_s.value() == Approx(expected).epsilon(1e-12));
    CHECK(result.messages == std::uint64_t{2} * n * (n - 1));
    CHECK(result.bytes_sent == std::uint64_t{2} * (n - 1) * bytes);
}

void check_parameter_server(std::uint32_t n, std::uint32_t servers, std::uint64_t bytes, double reduction_Bps) {
    CAPTURE(n, servers, bytes, reduction_Bps);
    const CollectiveResult result = allreduce(star(reduction_Bps), n, servers, "parameter-server", bytes);
    // With at most as many servers as workers, the servers' links are saturated by the largest slice; with more
    // servers, the workers' links are, until the smaller slices are delivered.
    const double slice = ceil_div(bytes, servers);
    const auto remainder = static_cast<double>(bytes % servers);
    const double whole = static_cast<double>(bytes) - remainder;
    const double on_link = servers <= n ? n * slice : whole + (remainder > 0 ? std::max<double>(n, remainder) : 0);
    const double phase = alpha + on_link / bandwidth;
    const double expected = 2 * phase + n * slice / reduction_Bps;
    CHECK(result.completion_time_s == Approx(expected).epsilon(1e-6));
    CHECK(result.closed_form_s.value() == Approx(expected).epsilon(1e-12));
    CHECK(result.messages == std::uint64_t{2} * n * servers);
    CHECK(result.bytes_sent == 2 * n * bytes);
}

}  // namespace

TEST_CASE("a ring all-reduce in small groups takes 2(N-1)(α + ⌈S/N⌉β) + (N-1)⌈S/N⌉γ and sends 2N(N-1) messages") {
    for (std::uint32_t n = 2; n <= 40; ++n) {
        for (const std::uint64_t bytes : {0ull, 4ull, 1001ull, 1000003ull, 100000000ull})
            check_ring(n, bytes, unlimited);
        check_ring(n, 7777777, 200e9);
    }
}

TEST_CASE("a ring all-reduce in large groups equals its closed form") {
    for (const std::uint32_t n : {63u, 64u, 100u, 127u, 128u, 255u, 256u}) {
        for (const std::uint64_t bytes : {4ull, 65537ull, 1000000000ull}) check_ring(n, bytes, unlimited);
        check_ring(n, 100000000, 244e9);
    }
}

TEST_CASE("a parameter server takes 2(α + N⌈S/s⌉β) + N⌈S/s⌉γ, and S in place of N⌈S/s⌉ if servers outnumber workers") {
    for (const std::uint32_t n : {2u, 3u, 5u, 8u, 13u, 32u, 64u, 255u, 256u}) {
        for (const std::uint32_t servers : {1u, 2u, 3u, 7u, 8u}) {
            for (const std::uint64_t bytes : {0ull, 4ull, 1000003ull, 1000000000ull}) {
                check_parameter_server(n, servers, bytes, unlimited);
            }
            check_parameter_server(n, servers, 7777777, 25e9);
        }
    }
    check_parameter_server(5, 20, 12345, unlimited);
    check_parameter_server(3, 50, 7, unlimited);
}

TEST_CASE("one server of N workers takes N times one worker's transfer, and s balanced servers take N/s", "[memory]") {
    const std::uint64_t bytes = 128 * 1024 * 1024;
    const double transfer = static_cast<double>(bytes) / bandwidth;
    for (const std::uint32_t n : {2u, 4u, 16u, 64u}) {
        for (const std::uint32_t servers : {1u, 2u, 4u}) {
            if (servers > n) continue;
            CAPTURE(n, servers);
            const CollectiveResult result = allreduce(star(), n, servers, "parameter-server", bytes);
            CHECK((result.completion_time_s - 2 * alpha) / 2 == Approx(transfer * n / servers).epsilon(1e-6));
        }
    }
}

TEST_CASE("one rank alone sends nothing and takes no time", "[memory]") {
    for (const char* algorithm : {"ring", "parameter-server"}) {
        const CollectiveResult result = allreduce(star(), 1, 1, algorithm, 1000);
        CHECK(result.completion_time_s == 0);
        CHECK(result.closed_form_s.value() == 0);
        CHECK(result.messages == 0);
        CHECK(result.bytes_sent == 0);
        CHECK(!result.algorithm_bandwidth_Bps);
    }
}

TEST_CASE("bandwidths follow the definitions of nccl-tests", "[memory]") {
    const CollectiveResult result = allreduce(star(), 8, 1, "ring", 800000000);
    const double time = 14 * (alpha + 1e8 / bandwidth);
    CHECK(result.algorithm_bandwidth_Bps.value() == Approx(8e8 / time));
    CHECK(result.bus_bandwidth_Bps.value() == Approx(8e8 / time * 14 / 8));
}

#include "tests/smpi/comparison.hpp"

#include <fmt/format.h>

#include <iostream>

#include "sim/analysis/experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/smpi/smpi.hpp"

namespace syncline::test {

namespace {

constexpr SmpiStar star{3.125e9, 1e-6};
constexpr double envelope_s = envelope_bytes / star.bandwidth_Bps;

/// `more_s`: added to every message's latency.
double our_seconds(const AlgorithmSpec& spec, std::uint32_t ranks, std::uint64_t bytes, double more_s = 0) {
    Cluster cluster;
    cluster.latency = Latency::blocking;  // SMPI's senders wait for the delivery, too
    cluster.nodes = ranks;
    cluster.fabric.topology.bandwidth_Bps = {star.bandwidth_Bps};
    cluster.fabric.topology.latency_s = {star.latency_s + more_s / 2};  // of two links
    cluster.device.reduction_Bps = unlimited;
    cluster.host.reduction_Bps = unlimited;
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.algorithm = spec;
    plan.bytes = bytes;
    return simulate_collective(cluster, plan).completion_time_s;
}

double our_seconds_with_envelopes(const Pair& pair, std::uint32_t ranks, std::uint64_t bytes) {
    if (pair.envelopes == Envelopes::in_turn) return our_seconds(pair.ours, ranks, bytes, envelope_s);
    return our_seconds(pair.ours, ranks, bytes + static_cast<std::uint64_t>(envelope_bytes) * ranks);
}

}  // namespace

std::vector<std::uint64_t> usual_sizes(std::uint64_t unit) {
    std::vector<std::uint64_t> sizes;
    for (const std::uint64_t bytes : {8u, 1u << 10, 1u << 16, 1u << 20, 1u << 24})
        sizes.push_back((bytes + unit - 1) / unit * unit);
    return sizes;
}

void compare(const Pair& pair) {
    std::cout << fmt::format("{} {} beside SMPI's {}\n{:>5} {:>10} {:>14} {:>14} {:>9} {:>14} {:>8}\n",
                             pair.ours.operation, pair.ours.name, pair.smpi, "ranks", "bytes", "ours", "SMPI",
                             "differs", "as explained", "rest");
    const MessageTime message{2 * star.latency_s + envelope_s, 1 / star.bandwidth_Bps};
    for (const std::uint32_t ranks : pair.ranks) {
        const std::vector<std::uint64_t> sizes = pair.sizes(ranks);
        const std::vector<double> smpi = smpi_seconds(star, ranks, pair.ours.operation, pair.smpi, sizes);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const std::uint64_t bytes = sizes[i];
            const double ours = our_seconds(pair.ours, ranks, bytes);
            const double longer = pair.longer_s == nullptr ? 0 : pair.longer_s(ranks, bytes, message);
            const double explained = our_seconds_with_envelopes(pair, ranks, bytes) + longer;
            std::cout << fmt::format("{:>5} {:>10} {:>11.3f} us {:>11.3f} us {:>7.2f} % {:>11.3f} us {:>8.0e}\n", ranks,
                                     bytes, ours * 1e6, smpi[i] * 1e6, (smpi[i] / ours - 1) * 100, explained * 1e6,
                                     smpi[i] / explained - 1);
            CAPTURE(pair.smpi, ranks, bytes);
            CHECK(smpi[i] == Approx(explained).epsilon(1e-6));
            CHECK(smpi[i] == Approx(ours + longer).epsilon(bytes < 1 << 20 ? 0.05 : 0.01));
        }
    }
}

}  // namespace syncline::test

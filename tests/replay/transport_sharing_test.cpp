#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/platform/wiring.hpp"
#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/fluid.hpp"
#include "tests/replay/scripted.hpp"

// Compares random messages of random sizes, all started together, whose connections and hosts have limits, with an
// independent fluid calculation in which a connection's limit is a link of its own.

using namespace syncline;

namespace {

std::vector<BandwidthPoint> random_curve(Chance& chance) {
    std::vector<BandwidthPoint> points;
    double bytes = 1 + chance.below(1000), seconds = bytes / chance.of<double>({1e6, 1e8, 1e9});
    for (std::uint32_t count = chance.below(4); count > 0; --count) {
        points.push_back({bytes, bytes / seconds});
        bytes *= 2 + chance.below(100);
        seconds *= 1 + chance.below(60);
    }
    return points;
}

void check_case(Chance& chance) {
    const std::uint32_t nodes = 2 + chance.below(4);
    Cluster cluster = star_cluster(nodes, chance.of<double>({1e8, 1e9, 25e9}), chance.of<double>({0, 1e-6, 1e-3}));
    cluster.node.devices = 1 + chance.below(4);
    cluster.node.links = chance.of<NodeLinks>({NodeLinks::crossbar, NodeLinks::pcie, NodeLinks::all_to_all});
    cluster.node.link = {chance.of<double>({3e8, 5e9}), 1e-6};
    cluster.transport.between.bandwidth = random_curve(chance);
    cluster.transport.inside.bandwidth = random_curve(chance);
    if (chance.below(2) == 0) cluster.transport.host_Bps = chance.of<double>({5e7, 4e8, 30e9});

    cluster.latency = Latency::blocking;  // senders wait for the delivery, too
    std::vector<Place> places;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        for (std::uint32_t device = 0; device < cluster.node.devices; ++device) places.push_back({node, device});
    }
    const auto ranks = static_cast<std::uint32_t>(places.size());
    Wiring wiring(cluster, nodes);
    std::vector<Step> steps(ranks);
    std::vector<Flow> flows;
    std::map<std::uint32_t, double> bandwidth_Bps;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
    for (std::uint32_t count = 1 + chance.below(3 * ranks); count > 0; --count) {
        const std::uint32_t from = chance.below(ranks), to = (from + 1 + chance.below(ranks - 1)) % ranks;
        const std::uint32_t bytes = chance.of<std::uint32_t>({0, 1, 1000, 1 + chance.below(1'000'000), 4'000'000});
        steps[from].sends.push_back({to, 0, bytes});
        steps[to].receives.push_back({from, 0, bytes});
        Flow flow{{}, static_cast<double>(bytes)};
        wiring.route(places[from], places[to], flow.links);
        for (const std::uint32_t link : flow.links) bandwidth_Bps[link] = wiring.wire(link).bandwidth_Bps;
        const bool inside = places[from].node == places[to].node;
        const double limit = (inside ? cluster.transport.inside : cluster.transport.between).limit_Bps(bytes);
        const auto own = static_cast<std::uint32_t>(wiring.links() + flows.size());
        bandwidth_Bps[own] = std::min(limit, 1e15);
        flow.links.push_back(own);
        flows.push_back(flow);
        ends.emplace_back(from, to);
    }
    const std::vector<double> through = fluid_ends(flows, bandwidth_Bps);
    std::vector<double> expected(ranks, 0);
    for (std::size_t i = 0; i < flows.size(); ++i) {
        flows[i].links.pop_back();
        const double end = through[i] + wiring.latency_s(flows[i].links);
        for (const std::uint32_t rank : {ends[i].first, ends[i].second}) expected[rank] = std::max(expected[rank], end);
    }
    std::vector<std::vector<Step>> programs;
    for (const Step& step : steps) {
        programs.emplace_back();
        if (!step.sends.empty() || !step.receives.empty()) programs.back().push_back(step);
    }
    const std::vector<double> played = play(cluster, places, programs, 4'000'000).ends;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        CAPTURE(rank);
        // SimGrid merges two events closer than 1 ps.
        CHECK(played[rank] == Approx(expected[rank]).epsilon(1e-9).margin(1e-11));
    }
}

}  // namespace

TEST_CASE("transport: limited connections and hosts share links as a fluid calculation says") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Chance chance(seed);
        check_case(chance);
    }
}

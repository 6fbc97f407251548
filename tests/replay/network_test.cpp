#include <string>

#include "sim/analysis/experiment.hpp"
#include "sim/collective/ring.hpp"
#include "tests/catch.hpp"

// What the network models make of one exchange, and what happens when an exchange cannot end.

using namespace syncline;

namespace {

Cluster star(NetworkModel network) {
    Cluster cluster;
    cluster.nodes = 8;
    cluster.fabric.bandwidth_Bps = 1e9;
    cluster.fabric.latency_s = 1e-5;
    cluster.network = network;
    return cluster;
}

double ring_of_two(NetworkModel network, std::uint64_t bytes) {
    return simulate_allreduce(star(network), 2, 1, "ring", bytes).completion_time_s;
}

/// Both members first wait for the other: no message is ever sent.
class Stuck : public CollectiveAlgorithm {
public:
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes) const override {
        return {{bytes, 1}, {{{}, {{(rank + 1) % ranks, 0}}, false, 1, 0}}};
    }
    double cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return 0; }
    std::string formula() const override { return "none"; }
};

}  // namespace

TEST_CASE("the network model can be chosen") {
    // Two steps, each one message of half the buffer over two links of 10 µs.
    const double latency = 2e-5;
    CHECK(ring_of_two(NetworkModel::exact, 2'000'000) == Approx(2 * (latency + 1e-3)).epsilon(1e-9));
    // SimGrid's documentation: LV08 takes 13.01 times the latency and 0.97 of the bandwidth.
    CHECK(ring_of_two(NetworkModel::LV08, 0) == Approx(2 * 13.01 * latency).epsilon(1e-6));
    CHECK(ring_of_two(NetworkModel::LV08, 2'000'000) > 2 * (13.01 * latency + 1e-3 / 0.97) * 0.999);
    // CM02 as SimGrid ships it: the stated latency, but acknowledgements share the links.
    CHECK(ring_of_two(NetworkModel::CM02, 0) == Approx(2 * latency).epsilon(1e-6));
    CHECK(ring_of_two(NetworkModel::CM02, 2'000'000) > 2 * (latency + 1e-3) * 1.01);
    CHECK(ring_of_two(NetworkModel::SMPI, 2'000'000) > ring_of_two(NetworkModel::exact, 2'000'000));
    // Constant: every message takes the route's latency, whatever its size.
    CHECK(ring_of_two(NetworkModel::Constant, 2'000'000) == Approx(2 * latency).epsilon(1e-9));
}

TEST_CASE("servers on one sender's path share its link, whatever starts together") {
    // Three servers with slices of 3, 3 and 4 bytes and five workers: every server's link carries five flows, so a
    // phase takes 5·4 bytes over the link. An update of only some links, as SimGrid's lazy solver does, gives less.
    Cluster cluster = star(NetworkModel::exact);
    const CollectiveResult result = simulate_allreduce(cluster, 5, 3, "parameter-server", 10);
    CHECK(result.completion_time_s == Approx(2 * (2e-5 + 20e-9)).epsilon(1e-9));
}

TEST_CASE("an exchange that cannot end is reported as a bug, with the streams that are stuck") {
    static const Stuck stuck;
    TaskGraph graph;
    const GroupId group = graph.add_group({graph.add_process({0}), graph.add_process({1})});
    const ExchangeId exchange = graph.add_exchange({&stuck, group, 0, 100, 0});
    for (std::uint32_t rank : {0u, 1u}) {
        graph.add_task({graph.add_stream(rank, StreamKind::exchange), Phase::exchange, 3, 0, exchange, rank});
    }
    graph.seal();
    try {
        replay_isolated(star(NetworkModel::exact), graph, {});
        FAIL("no deadlock was seen");
    } catch (const std::logic_error& error) {
        const std::string text = error.what();
        CHECK(text.find("process 0: exchange 3") != std::string::npos);
        CHECK(text.find("process 1: exchange 3") != std::string::npos);
    }
}

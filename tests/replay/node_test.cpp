#include "sim/analysis/exchange_experiment.hpp"
#include "sim/platform/wiring.hpp"
#include "tests/catch.hpp"
#include "tests/replay/messages.hpp"

// Messages inside nodes of several devices, and between nodes, worked out by hand.

using namespace syncline;

namespace {

constexpr double us = 1e-6, ms = 1e-3;
constexpr std::uint64_t MB = 1'000'000;  // a millisecond at 1 GB/s

/// Four nodes on a star of 1 GB/s and 10 us; links inside have 4 GB/s and 1 us.
Cluster nodes_of(std::int64_t devices, NodeLinks links, std::int64_t nics = 1) {
    Cluster cluster = star_cluster(4, 1e9, 10 * us);
    cluster.node.devices = devices;
    cluster.node.links = links;
    cluster.node.link = {4e9, 1 * us};
    cluster.node.nics = nics;
    return cluster;
}

/// Rank r on device r mod d of node r div d.
std::vector<Place> packed(const Cluster& cluster) {
    std::vector<Place> places;
    for (std::int64_t rank = 0; rank < cluster.nodes * cluster.node.devices; ++rank)
        places.push_back({static_cast<std::uint32_t>(rank / cluster.node.devices),
                          static_cast<std::uint32_t>(rank % cluster.node.devices)});
    return places;
}

void check(const Cluster& cluster, const std::vector<Expected>& messages) {
    check_at_once(cluster, packed(cluster), messages);
}

}  // namespace

TEST_CASE("node: each pair has its own link with all-to-all links", "[memory]") {
    const Cluster cluster = nodes_of(4, NodeLinks::all_to_all);
    check(cluster, {{{0, 1, 4 * MB}, 1 * us + 1 * ms}});
    check(cluster, {{{0, 1, 4 * MB}, 1 * us + 1 * ms},
                    {{0, 2, 4 * MB}, 1 * us + 1 * ms},
                    {{0, 3, 4 * MB}, 1 * us + 1 * ms},
                    {{1, 0, 4 * MB}, 1 * us + 1 * ms}});
    check(cluster, {{{0, 1, 4 * MB}, 1 * us + 2 * ms}, {{0, 1, 4 * MB}, 1 * us + 2 * ms}});
    // The same pair in another node has another link; there is one port out of the node.
    check(cluster, {{{0, 1, 4 * MB}, 1 * us + 1 * ms}, {{4, 5, 4 * MB}, 1 * us + 1 * ms}});
    check(cluster, {{{0, 4, MB}, 20 * us + 1 * ms}});
    check(cluster, {{{0, 4, MB}, 20 * us + 2 * ms}, {{3, 8, MB}, 20 * us + 2 * ms}});
    check(cluster, {{{0, 4, MB}, 20 * us + 1 * ms}, {{0, 1, 4 * MB}, 1 * us + 1 * ms}});
}

TEST_CASE("node: a ring of devices forwards messages", "[memory]") {
    const Cluster cluster = nodes_of(5, NodeLinks::ring);
    check(cluster, {{{0, 4, 4 * MB}, 1 * us + 1 * ms}});
    check(cluster, {{{0, 2, 4 * MB}, 2 * us + 1 * ms}});
    check(cluster, {{{0, 2, 4 * MB}, 2 * us + 2 * ms}, {{1, 2, 4 * MB}, 1 * us + 2 * ms}});
    check(cluster, {{{0, 3, 4 * MB}, 2 * us + 1 * ms}, {{1, 2, 4 * MB}, 1 * us + 1 * ms}});
    // Traffic out of the node is not forwarded by devices.
    check(cluster, {{{2, 7, MB}, 20 * us + 1 * ms}, {{0, 1, 4 * MB}, 1 * us + 1 * ms}});
    check(nodes_of(2, NodeLinks::ring), {{{0, 1, 4 * MB}, 1 * us + 1 * ms}, {{1, 0, 4 * MB}, 1 * us + 1 * ms}});
}

TEST_CASE("node: a mesh has its pairs' links and forwards or goes over PCIe", "[memory]") {
    // 0 = 1 - 2 - 3, with two links between 0 and 1: 8 GB/s.
    Cluster cluster = nodes_of(4, NodeLinks::mesh);
    cluster.node.pairs = {{0, 1, 2}, {1, 2, 1}, {2, 3, 1}};
    check(cluster, {{{0, 1, 8 * MB}, 1 * us + 1 * ms}, {{1, 0, 8 * MB}, 1 * us + 1 * ms}});
    check(cluster, {{{0, 1, 4 * MB}, 1 * us + 1 * ms}, {{0, 1, 4 * MB}, 1 * us + 1 * ms}});
    check(cluster, {{{0, 3, 4 * MB}, 3 * us + 1 * ms}});
    check(cluster, {{{0, 2, 4 * MB}, 2 * us + 2 * ms}, {{1, 2, 4 * MB}, 1 * us + 2 * ms}});
    // PCIe of 2 GB/s and 3 us, two devices a switch: 0 and 1, 2 and 3. Pairs with a link do not use it.
    cluster.node.mesh_pcie = Wire{2e9, 3 * us};
    check(cluster, {{{0, 1, 8 * MB}, 1 * us + 1 * ms}, {{1, 2, 4 * MB}, 1 * us + 1 * ms}});
    check(cluster, {{{0, 2, 2 * MB}, 12 * us + 1 * ms}});
    check(cluster, {{{0, 2, 2 * MB}, 12 * us + 2 * ms}, {{0, 3, 2 * MB}, 12 * us + 2 * ms}});
    // The port is on the first switch.
    check(cluster, {{{0, 4, MB}, 26 * us + 1 * ms}});
    check(cluster, {{{3, 7, MB}, 38 * us + 1 * ms}});
}

TEST_CASE("node: a crossbar has a link to each device", "[memory]") {
    const Cluster cluster = nodes_of(4, NodeLinks::crossbar);
    check(cluster, {{{0, 3, 4 * MB}, 2 * us + 1 * ms}});
    check(cluster, {{{0, 3, 4 * MB}, 2 * us + 2 * ms}, {{0, 1, 4 * MB}, 2 * us + 2 * ms}});
    check(cluster, {{{0, 3, 4 * MB}, 2 * us + 1 * ms}, {{2, 1, 4 * MB}, 2 * us + 1 * ms}});
}

TEST_CASE("node: PCIe switches are connected by the host bridge", "[memory]") {
    Cluster cluster = nodes_of(4, NodeLinks::pcie);
    // Two devices a switch: 0 and 1, 2 and 3. The port is on the first switch.
    check(cluster, {{{0, 1, 4 * MB}, 2 * us + 1 * ms}});
    check(cluster, {{{0, 2, 4 * MB}, 4 * us + 1 * ms}});
    check(cluster, {{{0, 2, 4 * MB}, 4 * us + 2 * ms}, {{1, 3, 4 * MB}, 4 * us + 2 * ms}});
    check(cluster, {{{0, 2, 4 * MB}, 4 * us + 1 * ms}, {{3, 1, 4 * MB}, 4 * us + 1 * ms}});
    check(cluster, {{{0, 1, 4 * MB}, 2 * us + 1 * ms}, {{2, 3, 4 * MB}, 2 * us + 1 * ms}});
    // Out of the node: device, switch, and then directly the port; or device, switch, bridge, the port's switch.
    check(cluster, {{{0, 4, MB}, 22 * us + 1 * ms}});
    check(cluster, {{{2, 4, MB}, 24 * us + 1 * ms}});
    check(cluster, {{{2, 6, MB}, 26 * us + 1 * ms}});
    // 2→4 goes down to the first switch, as does 3→0: 1 of the 4 GB/s for the former and 3 for the latter.
    check(cluster, {{{2, 4, MB}, 24 * us + 1 * ms}, {{3, 0, 3 * MB}, 4 * us + 1 * ms}});
    // A link to the port that is narrower than the fabric, with a latency, in each of the two nodes.
    cluster.node.nic_link = {0.5e9, 3 * us};
    check(cluster, {{{0, 4, MB}, 28 * us + 2 * ms}});
    check(cluster, {{{0, 4, MB}, 28 * us + 4 * ms}, {{1, 8, MB}, 28 * us + 4 * ms}});

    // With a port on each switch no traffic crosses the bridge to leave the node.
    const Cluster two = nodes_of(4, NodeLinks::pcie, 2);
    check(two, {{{2, 6, MB}, 22 * us + 1 * ms}, {{0, 4, MB}, 22 * us + 1 * ms}});
    check(two, {{{0, 6, MB}, 22 * us + 1 * ms}, {{2, 4, MB}, 22 * us + 1 * ms}});
}

TEST_CASE("node: a PCIe switch may have one device, and the last switch fewer than the others", "[memory]") {
    Cluster cluster = nodes_of(5, NodeLinks::pcie);
    cluster.node.devices_per_switch = 3;
    check(cluster, {{{0, 2, 4 * MB}, 2 * us + 1 * ms}});
    check(cluster, {{{2, 4, 4 * MB}, 4 * us + 1 * ms}});
    check(cluster, {{{3, 8, MB}, 26 * us + 1 * ms}});
    check(nodes_of(1, NodeLinks::pcie), {{{0, 1, MB}, 22 * us + 1 * ms}});
}

TEST_CASE("node: devices behind the same port share it, others do not", "[memory]") {
    // Evenly: devices 0 and 1 on port 0, 2 and 3 on port 1.
    Cluster cluster = nodes_of(4, NodeLinks::all_to_all, 2);
    check(cluster, {{{0, 4, MB}, 20 * us + 2 * ms}, {{1, 8, MB}, 20 * us + 2 * ms}});
    check(cluster, {{{0, 4, MB}, 20 * us + 1 * ms}, {{2, 6, MB}, 20 * us + 1 * ms}});
    // Both into port 0 of node 1, out of two ports.
    check(cluster, {{{0, 4, MB}, 20 * us + 2 * ms}, {{2, 5, MB}, 20 * us + 2 * ms}});
    // 3 ports for 4 devices: 0 and 1 share the first one.
    const Cluster three = nodes_of(4, NodeLinks::all_to_all, 3);
    check(three, {{{0, 4, MB}, 20 * us + 2 * ms}, {{1, 8, MB}, 20 * us + 2 * ms}, {{2, 6, MB}, 20 * us + 1 * ms}});
    // In the user's assignment: 0 and 3 together.
    cluster.node.nic_of_device = {1, 0, 0, 1};
    check(cluster, {{{0, 4, MB}, 20 * us + 1 * ms}, {{1, 9, MB}, 20 * us + 1 * ms}});
    check(cluster, {{{0, 4, MB}, 20 * us + 2 * ms}, {{3, 8, MB}, 20 * us + 2 * ms}});
}

TEST_CASE("node: each device has its own link to the port", "[memory]") {
    Cluster cluster = nodes_of(2, NodeLinks::all_to_all);
    cluster.node.nic_link = {0.5e9, 3 * us};
    check(cluster, {{{0, 2, MB}, 26 * us + 2 * ms}});
    // Each of the two gets half of the fabric's link in any case.
    check(cluster, {{{0, 2, MB}, 26 * us + 2 * ms}, {{1, 3, MB}, 26 * us + 2 * ms}});
    check(cluster, {{{0, 2, MB}, 26 * us + 4 * ms}, {{0, 4, MB}, 26 * us + 4 * ms}});
    // Only latency, with unlimited bandwidth.
    cluster.node.nic_link = {unlimited, 3 * us};
    check(cluster, {{{0, 2, MB}, 26 * us + 1 * ms}});
}

TEST_CASE("node: a host uses the first port, and its loopback is its node's", "[memory]") {
    Cluster cluster = nodes_of(2, NodeLinks::pcie, 2);
    cluster.node.devices_per_switch = 1;
    cluster.host.loopback_Bps = 2e9;
    const std::vector<Place> places{{0, 0}, {0, 1}, {0, Place::host}, {1, Place::host}, {1, 1}, {0, Place::host}};
    check_at_once(cluster, places, {{{0, 2, 2 * MB}, 1 * ms}});
    check_at_once(cluster, places, {{{0, 2, 2 * MB}, 2 * ms}, {{2, 1, 2 * MB}, 2 * ms}});
    check_at_once(cluster, places, {{{2, 5, 2 * MB}, 1 * ms}});
    // Bridge to the first port's switch, twice.
    check_at_once(cluster, places, {{{2, 3, MB}, 22 * us + 1 * ms}});
    check_at_once(cluster, places,
                  {{{1, 3, MB}, 22 * us + 2 * ms}, {{4, 5, 0}, 22 * us}, {{2, 3, MB}, 22 * us + 2 * ms}});
    cluster.host.loopback_Bps = unlimited;
    check_at_once(cluster, places, {{{0, 2, 2 * MB}, 0}, {{2, 5, 100 * MB}, 0}});
}

TEST_CASE("node: the links inside a node of one device have no effect", "[memory]") {
    for (const NodeLinks links : {NodeLinks::all_to_all, NodeLinks::ring, NodeLinks::crossbar}) {
        const Cluster cluster = nodes_of(1, links);
        check(cluster, {{{0, 1, MB}, 20 * us + 1 * ms}});
        check(cluster, {{{0, 1, MB}, 20 * us + 2 * ms}, {{0, 2, MB}, 20 * us + 2 * ms}});
    }
}

TEST_CASE("node: a message alone takes its route's latency and narrowest link, between all devices", "[memory]") {
    for (const NodeLinks links : {NodeLinks::all_to_all, NodeLinks::ring, NodeLinks::crossbar, NodeLinks::pcie}) {
        for (const std::int64_t nics : {1, 2, 3, 6}) {
            Cluster cluster = nodes_of(6, links, nics);
            cluster.nodes = 2;
            cluster.node.nic_link = {3e9, 2 * us};
            const std::vector<Place> places = packed(cluster);
            Wiring wiring(cluster, 2);
            std::vector<Sent> list;
            std::vector<double> expected;
            for (std::uint32_t from = 0; from < 12; ++from) {
                for (std::uint32_t to = 0; to < 12; ++to) {
                    if (from == to) continue;
                    list.push_back({from, to, 10'000});
                    std::vector<Wiring::Link> route;
                    wiring.route(places[from], places[to], route);
                    const bool inside = from / 6 == to / 6;
                    expected.push_back(wiring.latency_s(route) + 10'000 / (inside ? 4e9 : 1e9));
                }
            }
            const std::vector<double> times = times_one_by_one(cluster, places, list);
            for (std::size_t i = 0; i < list.size(); ++i) {
                CAPTURE(list[i].from, list[i].to, nics);
                CHECK(times[i] == Approx(expected[i]).epsilon(1e-8));
            }
        }
    }
}

TEST_CASE("node: with PXN an all-to-all stays on its rails", "[memory]") {
    // Two nodes of two devices, a port each of 1 GB/s, and 0.5 GB/s from each leaf upwards; 10 GB/s inside. Each rank
    // sends 1 MB to each of three others: 2 MB through its port, 2 ms. Without PXN one of these takes the leaf's cable
    // upwards, 2 MB in all: 4 ms.
    Cluster cluster;
    cluster.nodes = 2;
    cluster.node.devices = cluster.node.nics = 2;
    cluster.node.links = NodeLinks::crossbar;
    cluster.node.link = {10e9, 0};
    TopologySpec& fabric = cluster.fabric.topology;
    fabric.shape = Shape::rails;
    fabric.rails = 2;
    fabric.bandwidth_Bps = {1e9, 0.5e9};
    fabric.latency_s = {0};
    CollectivePlan plan;
    plan.ranks = 4;
    plan.algorithm.operation = "all-to-all";
    plan.algorithm.name = "direct";
    plan.bytes = 4'000'000;
    for (const Fidelity fidelity : {Fidelity::message, Fidelity::folded}) {
        plan.fidelity = fidelity;
        cluster.transport.pxn = {};
        CHECK(simulate_collective(cluster, plan).completion_time_s == Approx(2e-3).epsilon(1e-9));
        cluster.transport.pxn = false;
        CHECK(simulate_collective(cluster, plan).completion_time_s == Approx(4e-3).epsilon(1e-9));
    }
}

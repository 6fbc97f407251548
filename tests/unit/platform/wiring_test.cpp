#include "sim/platform/wiring.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "sim/plan/placement.hpp"
#include "tests/catch.hpp"
#include "tests/unit/dgx1.hpp"

// Links and routes of a cluster, and the devices of ranks.

using namespace syncline;

namespace {

Cluster cluster_of(std::int64_t nodes, std::int64_t devices, NodeLinks links, std::int64_t nics) {
    Cluster cluster = star_cluster(nodes, 1e9, 1e-6);
    cluster.node.devices = devices;
    cluster.node.links = links;
    cluster.node.link = {4e9, 1e-6};
    cluster.node.nics = nics;
    if (links == NodeLinks::mesh) {
        // A chain in which every second pair has two links.
        for (std::uint32_t device = 0; device + 1 < devices; ++device)
            cluster.node.pairs.push_back({device, device + 1, 1 + device % 2});
    }
    return cluster;
}

std::vector<std::string> names(const Cluster& cluster, const Place& from, const Place& to) {
    Wiring wiring(cluster, static_cast<std::uint32_t>(cluster.nodes));
    std::vector<Wiring::Link> links;
    wiring.route(from, to, links);
    std::vector<std::string> result;
    for (const Wiring::Link link : links) result.push_back(wiring.name(link));
    return result;
}

/// Returns the ranks' devices, numbered node by node.
std::vector<std::int64_t> devices(const Cluster& cluster, const RankPlacement& placement, std::uint32_t ranks) {
    std::vector<std::int64_t> result;
    for (const Place& place : place_ranks(cluster, placement, ranks)) {
        CHECK(place.node < cluster.nodes);
        CHECK(place.device < cluster.node.devices);
        result.push_back(place.node * cluster.node.devices + place.device);
    }
    return result;
}

}  // namespace

TEST_CASE("wiring: with PXN a message to another rail goes by the device with the receiver's number", "[memory]") {
    using Names = std::vector<std::string>;
    Cluster cluster = cluster_of(2, 2, NodeLinks::crossbar, 2);
    TopologySpec& fabric = cluster.fabric.topology;
    fabric.shape = Shape::rails;
    fabric.rails = 2;
    const Names relayed{"node-0/device-0->switch", "node-0/switch->device-1", "host-1->leaf-1", "leaf-1->host-3"};
    const Names crossing{"host-0->leaf-0", "leaf-0->spine-0", "spine-0->leaf-1", "leaf-1->host-3"};
    CHECK(relays_on_rails(cluster));
    CHECK(names(cluster, {0, 0}, {1, 1}) == relayed);
    CHECK(names(cluster, {0, 1}, {1, 1}) == Names{"host-1->leaf-1", "leaf-1->host-3"});
    CHECK(names(cluster, {0, 0}, {0, 1}) == Names{"node-0/device-0->switch", "node-0/switch->device-1"});
    // Hosts use the first port, and nobody's.
    CHECK(names(cluster, {0, 1}, {1, Place::host}) ==
          Names{"host-1->leaf-1", "leaf-1->spine-0", "spine-0->leaf-0", "leaf-0->host-2"});
    cluster.transport.pxn = false;
    CHECK(names(cluster, {0, 0}, {1, 1}) == crossing);
    cluster.transport.pxn = {};
    cluster.transport.channels = 1;  // MPI
    CHECK(names(cluster, {0, 0}, {1, 1}) == crossing);
    cluster.transport.pxn = true;
    CHECK(names(cluster, {0, 0}, {1, 1}) == relayed);
    cluster.transport = {};
    cluster.node.links = NodeLinks::pcie;
    CHECK_FALSE(relays_on_rails(cluster));
    cluster.node.links = NodeLinks::crossbar;
    // On other fabrics the user must ask for it.
    fabric.shape = Shape::star;
    CHECK_FALSE(relays_on_rails(cluster));
    // Of a mesh only linked devices relay: 0 - 1 - 2 - 3.
    Cluster chain = cluster_of(2, 4, NodeLinks::mesh, 4);
    chain.transport.pxn = true;
    CHECK(names(chain, {0, 0}, {1, 1}).front() == "node-0/device-0->device-1");
    CHECK(names(chain, {0, 0}, {1, 2}).front() == "host-0->switch-0");
    // Two devices on a port: device 0 sends to device 1 of another node itself.
    Cluster shared = cluster_of(2, 4, NodeLinks::crossbar, 2);
    shared.transport.pxn = true;
    CHECK(names(shared, {0, 0}, {1, 1}) == Names{"host-0->switch-0", "switch-0->host-2"});
    CHECK(names(shared, {0, 0}, {1, 3}).front() == "node-0/device-0->switch");
}

TEST_CASE("wiring: a route's links have names", "[memory]") {
    using Names = std::vector<std::string>;
    const Cluster plain = cluster_of(3, 1, NodeLinks::crossbar, 1);
    CHECK(names(plain, {0, 0}, {2, 0}) == Names{"host-0->switch-0", "switch-0->host-2"});
    CHECK(names(plain, {1, 0}, {1, Place::host}) == Names{"node-1/loopback"});
    CHECK(names(plain, {1, 0}, {1, 0}) == Names{"node-1/loopback"});
    Cluster pcie = cluster_of(2, 4, NodeLinks::pcie, 1);
    pcie.node.nic_link = {2e9, 0};
    CHECK(names(pcie, {0, 2}, {1, 1}) == Names{"node-0/device-2->pcie-1", "node-0/pcie-1->host-bridge",
                                               "node-0/host-bridge->pcie-0", "node-0/pcie-0->nic-0", "host-0->switch-0",
                                               "switch-0->host-1", "node-1/nic-0->pcie-0", "node-1/pcie-0->device-1"});
    Cluster mesh = cluster_of(2, 4, NodeLinks::all_to_all, 2);
    mesh.node.nic_link = {2e9, 0};
    CHECK(names(mesh, {0, 1}, {0, 3}) == Names{"node-0/device-1->device-3"});
    CHECK(names(mesh, {0, 3}, {1, 0}) ==
          Names{"node-0/device-3->nic-1", "host-1->switch-0", "switch-0->host-2", "node-1/nic-0->device-0"});
}

TEST_CASE("wiring: every route ends, is never empty, and has no link twice", "[memory]") {
    struct Case {
        NodeLinks links;
        std::optional<Wire> mesh_pcie;
    };
    for (const Case& kind :
         {Case{NodeLinks::all_to_all, {}}, Case{NodeLinks::ring, {}}, Case{NodeLinks::crossbar, {}},
          Case{NodeLinks::pcie, {}}, Case{NodeLinks::mesh, {}}, Case{NodeLinks::mesh, Wire{3e9, 2e-6}}}) {
        for (const std::int64_t count : {1, 2, 3, 8}) {
            for (std::int64_t nics = 1; nics <= count + 1; ++nics) {
                Cluster cluster = cluster_of(3, count, kind.links, nics);
                cluster.node.mesh_pcie = kind.mesh_pcie;
                cluster.node.nic_link = {2e9, 1e-6};
                Wiring wiring(cluster, 3);
                std::vector<Place> places;
                for (std::uint32_t node = 0; node < 3; ++node) {
                    for (std::uint32_t device = 0; device < count; ++device) places.push_back({node, device});
                    places.push_back({node, Place::host});
                }
                std::set<std::string> all;
                for (Wiring::Link link = 0; link < wiring.links(); ++link) all.insert(wiring.name(link));
                CHECK(all.size() == wiring.links());
                for (const Place& from : places) {
                    for (const Place& to : places) {
                        std::vector<Wiring::Link> route, back;
                        wiring.route(from, to, route);
                        wiring.route(to, from, back);
                        CHECK_FALSE(route.empty());
                        CHECK(std::set(route.begin(), route.end()).size() == route.size());
                        CHECK(*std::max_element(route.begin(), route.end()) < wiring.links());
                        // Cables and paths work in both directions.
                        CHECK(route.size() == back.size());
                        CHECK(wiring.latency_s(route) == Approx(wiring.latency_s(back)));
                    }
                }
            }
        }
    }
}

TEST_CASE("wiring: a mesh has a link for each of its pairs and the rest goes over PCIe or over other devices",
          "[memory]") {
    using Names = std::vector<std::string>;
    Cluster cluster = star_cluster(2, 1e9, 1e-6);
    cluster.node = dgx1_v100();
    cluster.node.nics = 4;
    CHECK(names(cluster, {1, 0}, {1, 3}) == Names{"node-1/device-0->device-3"});
    CHECK(names(cluster, {1, 7}, {1, 4}) == Names{"node-1/device-7->device-4"});
    CHECK(names(cluster, {0, 2}, {1, 5}) == Names{"host-1->switch-0", "switch-0->host-6"});
    // Without PCIe: over one of the two neighbours that both have.
    const Names relay = names(cluster, {0, 3}, {0, 4});
    CHECK(relay.size() == 2);
    const bool over_0 = relay == Names{"node-0/device-3->device-0", "node-0/device-0->device-4"};
    const bool over_7 = relay == Names{"node-0/device-3->device-7", "node-0/device-7->device-4"};
    CHECK((over_0 || over_7));
    cluster.node.mesh_pcie = Wire{12e9, 2e-6};
    CHECK(names(cluster, {1, 0}, {1, 3}) == Names{"node-1/device-0->device-3"});
    CHECK(names(cluster, {0, 3}, {0, 4}) == Names{"node-0/device-3->pcie-1", "node-0/pcie-1->host-bridge",
                                                  "node-0/host-bridge->pcie-2", "node-0/pcie-2->device-4"});
    // Ports are on the PCIe switches.
    CHECK(names(cluster, {0, 2}, {1, 5}) ==
          Names{"node-0/device-2->pcie-1", "host-1->switch-0", "switch-0->host-6", "node-1/pcie-2->device-5"});
    // Parallel links are one link with the sum of their bandwidths.
    Wiring wiring(cluster, 2);
    for (Wiring::Link link = 0; link < wiring.links(); ++link) {
        const std::string name = wiring.name(link);
        const Wire wire = wiring.wire(link);
        if (name == "node-1/device-0->device-3" || name == "node-1/device-3->device-0")
            CHECK(wire.bandwidth_Bps == 40e9);
        if (name == "node-1/device-0->device-1") CHECK(wire.bandwidth_Bps == 20e9);
        if (name == "node-1/device-0->pcie-0" || name == "node-1/host-bridge->pcie-3") {
            CHECK(wire.bandwidth_Bps == 12e9);
            CHECK(wire.latency_s == 2e-6);
        }
    }
}

TEST_CASE("wiring: routes end at switches of the fabric", "[memory]") {
    using Names = std::vector<std::string>;
    Cluster cluster = cluster_of(3, 4, NodeLinks::crossbar, 2);
    cluster.node.nic_link = {2e9, 0};
    const Place on_fabric = Place::fabric_switch(0, 6);
    CHECK(names(cluster, {1, 3}, on_fabric) == Names{"node-1/device-3->nic-1", "host-3->switch-0"});
    CHECK(names(cluster, on_fabric, {1, 3}) == Names{"switch-0->host-3", "node-1/nic-1->device-3"});
    CHECK(names(cluster, {0, 0}, on_fabric) == Names{"node-0/device-0->nic-0", "host-0->switch-0"});
    CHECK_FALSE(in_same_node({0, 0}, on_fabric));
    CHECK_FALSE(on_fabric.on_device());
}

TEST_CASE("wiring: devices are divided evenly among ports, or as listed", "[memory]") {
    NodeDesign node;
    node.devices = 8;
    const auto ports = [&] {
        std::vector<std::uint32_t> result;
        for (std::uint32_t device = 0; device < node.devices; ++device) result.push_back(node.nic(device));
        return result;
    };
    CHECK(ports() == std::vector<std::uint32_t>(8, 0));
    node.nics = 4;
    CHECK(ports() == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3});
    node.nics = 3;
    CHECK(ports() == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 2, 2});
    node.nics = 8;
    CHECK(ports() == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
    node.nic_of_device = {7, 6, 5, 4, 3, 2, 1, 0};
    CHECK(ports() == std::vector<std::uint32_t>{7, 6, 5, 4, 3, 2, 1, 0});
}

TEST_CASE("placement: packed, round-robin and listed", "[memory]") {
    const Cluster cluster = cluster_of(3, 2, NodeLinks::crossbar, 1);
    using Order = RankPlacement::Order;
    using Devices = std::vector<std::int64_t>;
    CHECK(devices(cluster, {Order::packed, {}, 1}, 5) == Devices{0, 1, 2, 3, 4});
    CHECK(devices(cluster, {Order::round_robin, {}, 1}, 6) == Devices{0, 2, 4, 1, 3, 5});
    CHECK(devices(cluster, {Order::round_robin, {}, 1}, 2) == Devices{0, 2});
    CHECK(devices(cluster, {Order::listed, {5, 0, 3}, 1}, 3) == Devices{5, 0, 3});
    CHECK(first_free_node(place_ranks(cluster, {Order::packed, {}, 1}, 3)) == 2);
    CHECK(first_free_node(place_ranks(cluster, {Order::round_robin, {}, 1}, 3)) == 3);
}

TEST_CASE("placement: random is a permutation, the same for the same seed", "[memory]") {
    const Cluster cluster = cluster_of(16, 4, NodeLinks::crossbar, 1);
    std::set<std::vector<std::int64_t>> orders;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (const std::uint32_t ranks : {1u, 2u, 7u, 64u}) {
            const RankPlacement placement{RankPlacement::Order::random, {}, seed};
            std::vector<std::int64_t> order = devices(cluster, placement, ranks);
            CHECK(order == devices(cluster, placement, ranks));
            if (ranks == 64) orders.insert(order);
            std::sort(order.begin(), order.end());
            for (std::uint32_t i = 0; i < ranks; ++i) CHECK(order[i] == i);
        }
    }
    CHECK(orders.size() == 20);
}

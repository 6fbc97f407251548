#include "tests/catch.hpp"
#include "tests/replay/messages.hpp"

// A message takes its links' latencies and its bytes over the narrowest of them; messages on one link share it,
// messages on disjoint paths do not. Worked out by hand for every shape.

using namespace syncline;

namespace {

constexpr double us = 1e-6, ms = 1e-3;
constexpr std::uint64_t MB = 1'000'000;  // a millisecond at 1 GB/s

Cluster cluster_of(std::int64_t nodes, Shape shape, std::vector<double> bandwidth_Bps = {1e9},
                   std::vector<double> latency_s = {10 * us}) {
    Cluster cluster;
    cluster.nodes = nodes;
    cluster.fabric.topology.shape = shape;
    cluster.fabric.topology.bandwidth_Bps = std::move(bandwidth_Bps);
    cluster.fabric.topology.latency_s = std::move(latency_s);
    cluster.fabric.routing.policy = Routing::Policy::first;  // the paths that are worked out below
    return cluster;
}

/// Rank r on node r.
void check(const Cluster& cluster, const std::vector<Expected>& messages) {
    check_at_once(cluster, one_by_node(static_cast<std::uint32_t>(cluster.nodes)), messages);
}

/// Four nodes of two devices with a port each.
Cluster two_rails(std::int64_t spines) {
    Cluster rails = cluster_of(4, Shape::rails, {1e9, 0.5e9}, {1 * us, 10 * us});
    rails.node.devices = 2;
    rails.node.nics = 2;
    rails.node.link = {8e9, 2 * us};
    rails.fabric.topology.rails = 2;
    rails.fabric.topology.spines = spines;
    return rails;
}

}  // namespace

TEST_CASE("fabric: a star has the expected routes and times", "[memory]") {
    const Cluster star = cluster_of(5, Shape::star);
    check(star, {{{0, 1, MB}, 20 * us + 1 * ms}});
    check(star, {{{3, 2, 0}, 20 * us}});
    check(star, {{{3, 2, 1}, 20 * us + 1e-9}});
    // One sender's link, one receiver's link.
    check(star, {{{0, 1, MB}, 20 * us + 2 * ms}, {{0, 2, MB}, 20 * us + 2 * ms}});
    check(star, {{{1, 0, MB}, 20 * us + 2 * ms}, {{2, 0, MB}, 20 * us + 2 * ms}});
    check(star, {{{0, 1, MB}, 20 * us + 2 * ms}, {{0, 1, MB}, 20 * us + 2 * ms}});
    // Disjoint, and the two directions of the same cables.
    check(star, {{{0, 1, MB}, 20 * us + 1 * ms}, {{2, 3, 3 * MB}, 20 * us + 3 * ms}});
    check(star, {{{0, 1, MB}, 20 * us + 1 * ms}, {{1, 0, MB}, 20 * us + 1 * ms}});
    // The longer message has the link to itself when the other is delivered.
    check(star, {{{0, 1, MB}, 20 * us + 2 * ms}, {{0, 2, 3 * MB}, 20 * us + 4 * ms}});
    // A chain: 0→1 and 2→3 have half of a link that they share with 0→3.
    check(star, {{{0, 1, MB}, 20 * us + 2 * ms}, {{0, 3, MB}, 20 * us + 2 * ms}, {{2, 3, MB}, 20 * us + 2 * ms}});
    // 1→0, 2→0 and 3→0 get a third each; 3→4 gets the other two thirds of the link out of 3: 1.5 ms for 1 MB.
    check(star, {{{1, 0, MB}, 20 * us + 3 * ms},
                 {{2, 0, MB}, 20 * us + 3 * ms},
                 {{3, 0, MB}, 20 * us + 3 * ms},
                 {{3, 4, MB}, 20 * us + 1.5 * ms}});
}

TEST_CASE("fabric: a ring has the expected routes and times", "[memory]") {
    const Cluster ring = cluster_of(6, Shape::ring);
    check(ring, {{{0, 1, MB}, 10 * us + 1 * ms}});
    check(ring, {{{0, 5, MB}, 10 * us + 1 * ms}});
    check(ring, {{{4, 0, MB}, 20 * us + 1 * ms}});
    // Half way round both directions are equally long, and the first cable connects 0 and 1.
    check(ring, {{{0, 3, MB}, 30 * us + 2 * ms}, {{1, 2, MB}, 10 * us + 2 * ms}});
    check(ring, {{{0, 3, MB}, 30 * us + 1 * ms}, {{5, 4, MB}, 10 * us + 1 * ms}});
    // 1→2 is on both paths; 0→1 and 1→2 have no link in common.
    check(ring, {{{0, 2, MB}, 20 * us + 2 * ms}, {{1, 3, MB}, 20 * us + 2 * ms}});
    check(ring, {{{0, 1, MB}, 10 * us + 1 * ms}, {{1, 2, MB}, 10 * us + 1 * ms}});
    check(ring, {{{0, 2, MB}, 20 * us + 1 * ms}, {{2, 0, MB}, 20 * us + 1 * ms}});
    // Three messages over the same link, of 1, 2 and 3 hops: all share it equally, and each takes its own latency.
    check(cluster_of(8, Shape::ring),
          {{{1, 2, MB}, 10 * us + 3 * ms}, {{0, 2, MB}, 20 * us + 3 * ms}, {{7, 2, MB}, 30 * us + 3 * ms}});
    check(cluster_of(2, Shape::ring),
          {{{0, 1, MB}, 10 * us + 2 * ms}, {{0, 1, MB}, 10 * us + 2 * ms}, {{1, 0, MB}, 10 * us + 1 * ms}});
}

TEST_CASE("fabric: a tree with narrow upper links has the expected routes and times", "[memory]") {
    Cluster tree = cluster_of(8, Shape::tree, {1e9, 0.5e9, 0.25e9}, {1 * us, 5 * us, 20 * us});
    tree.fabric.topology.arity = 2;
    check(tree, {{{0, 1, MB}, 2 * us + 1 * ms}});
    check(tree, {{{0, 3, MB}, 12 * us + 2 * ms}});
    check(tree, {{{0, 7, MB}, 52 * us + 4 * ms}});
    // Siblings that send upwards share the link above them; messages that stay below do not use it.
    check(tree, {{{0, 2, MB}, 12 * us + 4 * ms}, {{1, 3, MB}, 12 * us + 4 * ms}});
    check(tree, {{{0, 2, MB}, 12 * us + 2 * ms}, {{2, 3, MB}, 2 * us + 1 * ms}});
    check(tree, {{{0, 2, MB}, 12 * us + 2 * ms}, {{3, 1, MB}, 12 * us + 2 * ms}});
    // Above host 0's switch both have half of 0.5 GB/s; on host 0's own link the one over the root leaves 0.75.
    check(tree, {{{0, 4, MB}, 52 * us + 4 * ms}, {{0, 2, MB}, 12 * us + 4 * ms}});
    check(tree, {{{0, 4, MB}, 52 * us + 4 * ms}, {{0, 1, 3 * MB}, 2 * us + 4 * ms}});
    // All of the left half to the right half: 4 MB over 0.25 GB/s.
    check(tree, {{{0, 4, MB}, 52 * us + 16 * ms},
                 {{1, 5, MB}, 52 * us + 16 * ms},
                 {{2, 6, MB}, 52 * us + 16 * ms},
                 {{3, 7, MB}, 52 * us + 16 * ms}});
}

TEST_CASE("fabric: a hierarchy of stars in a ring has the expected routes and times", "[memory]") {
    Cluster hierarchy = cluster_of(12, Shape::hierarchical, {1e9, 1.5e9}, {1 * us, 10 * us});
    hierarchy.fabric.topology.levels = {{Shape::star, 3}, {Shape::ring, 4}};
    check(hierarchy, {{{0, 2, MB}, 2 * us + 1 * ms}});
    check(hierarchy, {{{0, 3, MB}, 12 * us + 1 * ms}});
    check(hierarchy, {{{0, 6, MB}, 22 * us + 1 * ms}});
    check(hierarchy, {{{11, 0, MB}, 12 * us + 1 * ms}});
    // 1.5 GB/s between groups for two and for three concurrent messages.
    check(hierarchy, {{{0, 3, 3 * MB}, 12 * us + 4 * ms}, {{1, 4, 3 * MB}, 12 * us + 4 * ms}});
    check(hierarchy, {{{0, 3, MB}, 12 * us + 2 * ms}, {{1, 4, MB}, 12 * us + 2 * ms}, {{2, 5, MB}, 12 * us + 2 * ms}});
    // Groups 0→1 and 0→3 use different paths; the inside of a group is its own.
    check(hierarchy, {{{0, 3, MB}, 12 * us + 1 * ms}, {{1, 9, MB}, 12 * us + 1 * ms}});
    check(hierarchy, {{{0, 3, MB}, 12 * us + 1 * ms}, {{6, 7, MB}, 2 * us + 1 * ms}, {{1, 2, MB}, 2 * us + 1 * ms}});

    // Rings of leaders: hosts 0, 3 and 6 represent their groups, and forward.
    Cluster leaders = cluster_of(9, Shape::hierarchical, {1e9, 0.5e9}, {1 * us, 10 * us});
    leaders.fabric.topology.levels = {{Shape::ring, 3}, {Shape::full_mesh, 3}};
    check(leaders, {{{1, 2, MB}, 1 * us + 1 * ms}});
    check(leaders, {{{1, 5, MB}, 12 * us + 2 * ms}});
    check(leaders, {{{1, 4, MB}, 12 * us + 4 * ms}, {{2, 5, MB}, 12 * us + 4 * ms}});
    check(leaders, {{{1, 4, MB}, 12 * us + 2 * ms}, {{2, 8, MB}, 12 * us + 2 * ms}});
}

TEST_CASE("fabric: the exponential graph has the expected routes and times", "[memory]") {
    const Cluster exponential = cluster_of(8, Shape::exponential);
    for (const std::uint32_t to : {1u, 2u, 4u, 6u, 7u}) check(exponential, {{{0, to, MB}, 10 * us + 1 * ms}});
    // 3 = 1 + 2 and 5 = 1 + 4: over 1, because the cables to the next hosts come first.
    check(exponential, {{{0, 3, MB}, 20 * us + 1 * ms}});
    check(exponential, {{{0, 3, MB}, 20 * us + 2 * ms}, {{0, 1, MB}, 10 * us + 2 * ms}});
    check(exponential, {{{0, 3, MB}, 20 * us + 2 * ms}, {{1, 3, MB}, 10 * us + 2 * ms}});
    check(exponential,
          {{{0, 3, MB}, 20 * us + 1 * ms}, {{0, 2, MB}, 10 * us + 1 * ms}, {{0, 4, MB}, 10 * us + 1 * ms}});
    check(exponential, {{{0, 3, MB}, 20 * us + 2 * ms}, {{0, 5, MB}, 20 * us + 2 * ms}});
    // Every node has five ports, so five neighbours concurrently cost what one does.
    check(exponential, {{{0, 1, MB}, 10 * us + 1 * ms},
                        {{0, 2, MB}, 10 * us + 1 * ms},
                        {{0, 4, MB}, 10 * us + 1 * ms},
                        {{0, 6, MB}, 10 * us + 1 * ms},
                        {{0, 7, MB}, 10 * us + 1 * ms}});
    // One-way: 0→7 = 1 + 2 + 4.
    Cluster directed = exponential;
    directed.fabric.topology.directed = true;
    check(directed, {{{0, 7, MB}, 30 * us + 1 * ms}, {{7, 0, MB}, 10 * us + 1 * ms}});
}

TEST_CASE("fabric: a torus has a latency and a bandwidth for each dimension", "[memory]") {
    Cluster torus = cluster_of(24, Shape::torus, {1e9, 0.5e9, 0.25e9}, {1 * us, 10 * us, 100 * us});
    torus.fabric.topology.dimensions = {4, 3, 2};
    const auto at = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) { return x + 4 * (y + 3 * z); };
    check(torus, {{{at(0, 0, 0), at(1, 0, 0), MB}, 1 * us + 1 * ms}});
    check(torus, {{{at(0, 0, 0), at(3, 2, 0), MB}, 11 * us + 2 * ms}});
    check(torus, {{{at(1, 1, 0), at(3, 0, 1), MB}, 112 * us + 4 * ms}});
    // A dimension of two is one cable, used in both directions concurrently.
    check(torus,
          {{{at(2, 1, 0), at(2, 1, 1), MB}, 100 * us + 4 * ms}, {{at(2, 1, 1), at(2, 1, 0), MB}, 100 * us + 4 * ms}});
    check(torus,
          {{{at(0, 0, 0), at(2, 0, 0), MB}, 2 * us + 2 * ms}, {{at(1, 0, 0), at(2, 0, 0), MB}, 1 * us + 2 * ms}});
    check(torus, {{{at(0, 0, 0), at(1, 0, 0), MB}, 1 * us + 1 * ms},
                  {{at(0, 0, 0), at(0, 1, 0), MB}, 10 * us + 2 * ms},
                  {{at(0, 0, 0), at(0, 0, 1), MB}, 100 * us + 4 * ms}});
}

TEST_CASE("fabric: a hypercube and a full mesh have the expected routes and times", "[memory]") {
    const Cluster cube = cluster_of(8, Shape::hypercube);
    check(cube, {{{0, 7, MB}, 30 * us + 1 * ms}});
    check(cube, {{{0b010, 0b011, MB}, 10 * us + 1 * ms}});
    // Lowest bit first: 0→1→3.
    check(cube, {{{0, 3, MB}, 20 * us + 2 * ms}, {{1, 3, MB}, 10 * us + 2 * ms}});
    check(cube, {{{0, 3, MB}, 20 * us + 1 * ms}, {{0, 2, MB}, 10 * us + 1 * ms}, {{2, 3, MB}, 10 * us + 1 * ms}});

    const Cluster mesh = cluster_of(5, Shape::full_mesh);
    std::vector<Expected> all;
    for (std::uint32_t from = 0; from < 5; ++from) {
        for (std::uint32_t to = 0; to < 5; ++to)
            if (from != to) all.push_back({{from, to, MB}, 10 * us + 1 * ms});
    }
    check(mesh, all);
    check(mesh, {{{0, 1, MB}, 10 * us + 2 * ms}, {{0, 1, MB}, 10 * us + 2 * ms}});
}

TEST_CASE("fabric: a fat tree has the expected routes and times", "[memory]") {
    // 4-port switches: 2 hosts on a leaf, 4 in a pod, 16 in all.
    Cluster tree = cluster_of(16, Shape::fat_tree, {1e9}, {1 * us, 10 * us, 100 * us});
    tree.fabric.topology.ports = 4;
    check(tree, {{{0, 1, MB}, 2 * us + 1 * ms}});
    check(tree, {{{0, 2, MB}, 22 * us + 1 * ms}});
    check(tree, {{{15, 0, MB}, 222 * us + 1 * ms}});
    // All take the first of equal paths: two of a leaf share its first uplink, two of a pod share up to the core.
    check(tree, {{{0, 4, MB}, 222 * us + 2 * ms}, {{1, 5, MB}, 222 * us + 2 * ms}});
    check(tree, {{{0, 4, MB}, 222 * us + 2 * ms}, {{2, 6, MB}, 222 * us + 2 * ms}});
    check(tree, {{{0, 4, MB}, 222 * us + 1 * ms}, {{8, 12, MB}, 222 * us + 1 * ms}});
    // Parallel cables, of which the first is taken; wider ones above.
    Cluster wide = cluster_of(4, Shape::fat_tree, {1e9, 4e9}, {1 * us});
    wide.fabric.topology.down = {2, 2};
    wide.fabric.topology.up = {1, 1};
    wide.fabric.topology.cables = {1, 2};
    check(wide, {{{0, 2, MB}, 4 * us + 1 * ms}, {{1, 3, MB}, 4 * us + 1 * ms}});
}

TEST_CASE("fabric: a dragonfly has the expected routes and times", "[memory]") {
    // Two routers in each of three groups, a host and a global port each. In the absolute arrangement the global cables
    // join router 0.0 with 1.0, 0.1 with 2.0, and 1.1 with 2.1.
    Cluster dragonfly = cluster_of(6, Shape::dragonfly, {1e9, 1e9, 0.5e9}, {1 * us, 10 * us, 100 * us});
    dragonfly.fabric.topology.hosts_per_router = 1;
    dragonfly.fabric.topology.routers = 2;
    dragonfly.fabric.topology.global_links = 1;
    dragonfly.fabric.topology.groups = 3;
    check(dragonfly, {{{0, 1, MB}, 12 * us + 1 * ms}});
    check(dragonfly, {{{0, 2, MB}, 102 * us + 2 * ms}});
    check(dragonfly, {{{0, 3, MB}, 112 * us + 2 * ms}});
    check(dragonfly, {{{0, 5, MB}, 122 * us + 2 * ms}});
    check(dragonfly, {{{3, 5, MB}, 102 * us + 2 * ms}});
    // Two messages from group 0 to group 1 share the one global cable; to different groups they have one each.
    check(dragonfly, {{{0, 2, MB}, 102 * us + 4 * ms}, {{1, 3, MB}, 122 * us + 4 * ms}});
    check(dragonfly, {{{0, 2, MB}, 102 * us + 2 * ms}, {{1, 4, MB}, 102 * us + 2 * ms}});
}

TEST_CASE("fabric: rails have the expected routes and times", "[memory]") {
    // Four nodes in two groups; devices i use port i. Host links 1 us, above 10 us.
    Cluster rails = two_rails(1);
    rails.fabric.topology.nodes_per_group = 2;
    rails.transport.pxn = false;
    std::vector<Place> places;
    for (std::uint32_t rank = 0; rank < 8; ++rank) places.push_back({rank / 2, rank % 2});
    // The same rail of the same group is one switch away, all others are reached over the spine.
    check_at_once(rails, places, {{{0, 2, MB}, 2 * us + 1 * ms}});
    check_at_once(rails, places, {{{0, 3, MB}, 22 * us + 2 * ms}});
    check_at_once(rails, places, {{{0, 4, MB}, 22 * us + 2 * ms}});
    check_at_once(rails, places, {{{0, 2, MB}, 2 * us + 1 * ms}, {{1, 3, MB}, 2 * us + 1 * ms}});
    check_at_once(rails, places, {{{0, 4, MB}, 22 * us + 4 * ms}, {{2, 6, MB}, 22 * us + 4 * ms}});
    check_at_once(rails, places, {{{0, 4, MB}, 22 * us + 2 * ms}, {{1, 5, MB}, 22 * us + 2 * ms}});
    check_at_once(rails, places, {{{0, 1, 8 * MB}, 4 * us + 1 * ms}});
    // With PXN the second one goes inside its node, and on its receiver's rail.
    rails.transport.pxn.reset();
    check_at_once(rails, places, {{{0, 3, MB}, 6 * us + 1 * ms}});
}

TEST_CASE("fabric: on rails without common spines messages change rails inside a node", "[memory]") {
    // Four nodes; devices i use port i. Host links 1 us, above 10 us.
    Cluster rails = two_rails(0);
    std::vector<Place> places;
    for (std::uint32_t rank = 0; rank < 8; ++rank) places.push_back({rank / 2, rank % 2});
    // Rail 0 has the ranks 0, 2, 4, 6 on one leaf. To rank 7 it is by rank 1: two links of the node's switch and two
    // cables.
    check_at_once(rails, places, {{{0, 6, MB}, 2 * us + 1 * ms}});
    check_at_once(rails, places, {{{0, 7, MB}, 6 * us + 1 * ms}});
    check_at_once(rails, places, {{{0, 7, MB}, 6 * us + 2 * ms}, {{1, 7, MB}, 2 * us + 2 * ms}});
    // Two planes of two leaves, with a spine each: nodes 0 and 3 are in different groups.
    rails.fabric.topology.nodes_per_group = 2;
    rails.fabric.topology.rail_spines = 1;
    check_at_once(rails, places, {{{0, 6, MB}, 22 * us + 2 * ms}});
    check_at_once(rails, places, {{{0, 7, MB}, 26 * us + 2 * ms}});
    check_at_once(rails, places, {{{0, 6, MB}, 22 * us + 2 * ms}, {{1, 7, MB}, 22 * us + 2 * ms}});
}

TEST_CASE("fabric: a port that is divided over planes sprays packets, or sends each message on one", "[memory]") {
    // Eight hosts with two ports of 0.5 GB/s each, on two planes: in each, two leaves of four hosts and two spines.
    Cluster planes = cluster_of(8, Shape::fat_tree, {0.5e9}, {1 * us});
    planes.fabric.topology.down = {4, 2};
    planes.fabric.topology.up = {2, 2};
    planes.fabric.topology.cables = {1, 1};
    planes.fabric.routing.policy = Routing::Policy::d_mod_k;
    check(planes, {{{0, 1, MB}, 2 * us + 2 * ms}});
    planes.fabric.routing.policy = Routing::Policy::spray;
    check(planes, {{{0, 1, MB}, 2 * us + 1 * ms}});
    // To the other leaf over four paths, with half of the message on each plane.
    check(planes, {{{0, 4, MB}, 4 * us + 1 * ms}});
    check(planes, {{{0, 4, MB}, 4 * us + 2 * ms}, {{0, 5, MB}, 4 * us + 2 * ms}});
}

TEST_CASE("fabric: a graph of unequal cables is routed by latency or by hops", "[memory]") {
    Cluster graph = cluster_of(3, Shape::graph, {}, {});
    graph.fabric.topology.switches = {"s"};
    graph.fabric.topology.edges = {{"a", "s", {1e9, 1 * us}},
                                   {"b", "s", {0.25e9, 2 * us}},
                                   {"c", "s", {0.5e9, 4 * us}},
                                   {"a", "b", {2e9, 10 * us}}};
    // In the order of the edges: a, b, c are 0, 1, 2.
    check(graph, {{{0, 1, MB}, 3 * us + 4 * ms}});
    check(graph, {{{0, 2, MB}, 5 * us + 2 * ms}});
    check(graph, {{{1, 2, MB}, 6 * us + 4 * ms}});
    check(graph, {{{0, 1, MB}, 3 * us + 4 * ms}, {{0, 2, MB}, 5 * us + 2 * ms}});
    // Both messages out of b share 0.25 GB/s.
    check(graph, {{{1, 0, MB}, 3 * us + 8 * ms}, {{1, 2, MB}, 6 * us + 8 * ms}});
    graph.fabric.routing.shortest = Routing::Shortest::hops;
    check(graph, {{{0, 1, MB}, 10 * us + 0.5 * ms}});
    check(graph, {{{1, 0, MB}, 10 * us + 0.5 * ms}, {{1, 2, MB}, 6 * us + 4 * ms}});
}

TEST_CASE("fabric: empty messages without latency take no time", "[memory]") {
    check(cluster_of(3, Shape::ring, {1e9}, {0}), {{{0, 1, MB}, 1 * ms}, {{1, 2, 0}, 0}});
    // Latency is a message's own, whatever else is on the link; a message without bytes takes nothing from others.
    check(cluster_of(3, Shape::ring), {{{0, 1, MB}, 10 * us + 1 * ms}, {{0, 1, 0}, 10 * us}});
}

TEST_CASE("fabric: platforms of one node and with more hosts than nodes work", "[memory]") {
    check(cluster_of(1, Shape::ring), {});
    // A torus of nine for four nodes: the others only forward. 1→3 is over 0, as x comes first.
    Cluster torus = cluster_of(4, Shape::torus);
    torus.fabric.topology.dimensions = {3, 3};
    check(torus, {{{0, 3, MB}, 10 * us + 2 * ms}, {{1, 3, MB}, 20 * us + 2 * ms}});
}

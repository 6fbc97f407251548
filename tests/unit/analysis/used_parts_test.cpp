#include "sim/analysis/used_parts.hpp"

#include "sim/platform/wiring.hpp"
#include "tests/catch.hpp"

// Parts of a cluster that a job uses, counted by hand.

using namespace syncline;

namespace {

Cluster with_fabric(TopologySpec topology, std::int64_t nodes) {
    Cluster cluster = star_cluster(nodes, 1e9, 1e-6);
    topology.bandwidth_Bps = {1e9};
    topology.latency_s = {1e-6};
    cluster.fabric.topology = std::move(topology);
    cluster.failures.link_s = 1;
    return cluster;
}

/// Returns the parts that single-device nodes of these numbers use.
UsedParts used(const Cluster& cluster, const std::vector<std::uint32_t>& nodes) {
    std::vector<Place> places;
    for (const std::uint32_t node : nodes) places.push_back({node, 0});
    return used_parts(cluster, places, static_cast<std::int64_t>(nodes.size()));
}

}  // namespace

TEST_CASE("used parts: a star has a cable for each node, and a switch") {
    Cluster star = star_cluster(8, 1e9, 1e-6);
    CHECK(used(star, {0, 1, 2}).links == 0);  // if no part of the fabric fails, nobody asks
    star.failures.switch_s = 1;
    const UsedParts three = used(star, {0, 1, 2});
    CHECK(three.devices == 3);
    CHECK(three.nodes == 3);
    CHECK(three.links == 3);
    CHECK(three.switches == 1);
    const UsedParts one = used(star, {5});
    CHECK(one.links == 0);
    CHECK(one.switches == 0);
}

TEST_CASE("used parts: a fat tree is used up to the level that joins the nodes") {
    // Two pods of two leaves with two hosts each; a leaf has two parents, and those have two each.
    TopologySpec tree;
    tree.shape = Shape::fat_tree;
    tree.down = {2, 2, 2};
    tree.up = {1, 2, 2};
    const Cluster cluster = with_fabric(tree, 8);
    const UsedParts leaf = used(cluster, {0, 1});
    CHECK(leaf.links == 2);
    CHECK(leaf.switches == 1);
    const UsedParts pod = used(cluster, {0, 1, 2, 3});  // 4 ports, 2 leaves with 2 cables each to 2 parents
    CHECK(pod.links == 4 + 4);
    CHECK(pod.switches == 2 + 2);
    const UsedParts two = used(cluster, {0, 7});  // 2 ports, 2 leaves, 2 parents each, all 4 roots
    CHECK(two.links == 2 + 2 * 2 + 2 * 4);
    CHECK(two.switches == 2 + 4 + 4);
    const UsedParts all = used(cluster, {0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(all.links == 8 + 8 + 8);
    CHECK(all.switches == 4 + 4 + 4);
}

TEST_CASE("used parts: in a ring hosts are on the way") {
    TopologySpec ring;
    ring.shape = Shape::ring;
    ring.hosts = 6;
    const Cluster cluster = with_fabric(ring, 6);
    CHECK(used(cluster, {0, 1}).links == 1);
    CHECK(used(cluster, {0, 2}).links == 2);
    CHECK(used(cluster, {0, 3}).links == 6);  // both directions
    CHECK(used(cluster, {0, 3}).switches == 0);
    CHECK(used(cluster, {0, 1, 2, 3, 4, 5}).links == 6);
}

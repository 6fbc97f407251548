#include "sim/jobs/devices.hpp"

#include <algorithm>
#include <set>

#include "tests/catch.hpp"

using namespace syncline;

namespace {

using Numbers = std::vector<std::int64_t>;

/// Returns 16 nodes with two devices each, four under a switch.
Cluster tree() {
    Cluster cluster;
    cluster.nodes = 16;
    cluster.node.devices = 2;
    cluster.fabric.topology.shape = Shape::tree;
    cluster.fabric.topology.arity = 4;
    cluster.fabric.topology.depth = 2;
    cluster.fabric.topology.bandwidth_Bps = {1e9};
    cluster.fabric.topology.latency_s = {1e-6};
    return cluster;
}

}  // namespace

TEST_CASE("racks are the nodes below a switch") {
    const Devices devices(tree());
    CHECK(devices.count() == 32);
    CHECK(devices.largest_rack() == 8);
    CHECK(devices.rack_of(7) == 0);
    CHECK(devices.rack_of(8) == 1);
    CHECK(devices.rack_of(31) == 3);
    CHECK(devices.node_of(9) == 4);
}

TEST_CASE("a packed job takes as few racks and nodes as it can, where it fits best") {
    Devices devices(tree());
    CHECK(*devices.choose(JobPlacement::packed, 4, {}, 1) == Numbers{0, 1, 2, 3});
    devices.take({0, 1, 2, 3, 8});
    // The first rack has four devices left, as many as are needed; the others have more.
    CHECK(*devices.choose(JobPlacement::packed, 4, {}, 1) == Numbers{4, 5, 6, 7});
    // One device of node 4 is taken: a single rank fills that node, in the rack that has least above it.
    devices.take({4, 5, 6, 7});
    CHECK(*devices.choose(JobPlacement::packed, 1, {}, 1) == Numbers{9});
    // Ten need two racks: all of one, and two devices of a node of the rack with fewest free ones.
    CHECK(*devices.choose(JobPlacement::packed, 10, {}, 1) == Numbers{10, 11, 16, 17, 18, 19, 20, 21, 22, 23});
    CHECK_FALSE(devices.choose(JobPlacement::packed, 24, {}, 1));
}

TEST_CASE("a spread job takes devices of all racks in turn, and of their nodes") {
    Devices devices(tree());
    CHECK(*devices.choose(JobPlacement::spread, 4, {}, 1) == Numbers{0, 8, 16, 24});
    CHECK(*devices.choose(JobPlacement::spread, 6, {}, 1) == Numbers{0, 2, 8, 10, 16, 24});
    devices.take({0, 8, 16, 24});
    // Nodes with two free devices come before those with one.
    CHECK(*devices.choose(JobPlacement::spread, 4, {}, 1) == Numbers{2, 10, 18, 26});
    CHECK(devices.choose(JobPlacement::spread, 28, {}, 1)->size() == 28);
    CHECK_FALSE(devices.choose(JobPlacement::spread, 29, {}, 1));
}

TEST_CASE("a job in a rack waits if none has room") {
    Devices devices(tree());
    CHECK(*devices.choose(JobPlacement::rack, 8, {}, 1) == Numbers{0, 1, 2, 3, 4, 5, 6, 7});
    devices.take({0, 8, 16, 24});
    CHECK_FALSE(devices.choose(JobPlacement::rack, 8, {}, 1));
    devices.give_back({16});
    CHECK(*devices.choose(JobPlacement::rack, 8, {}, 1) == Numbers{16, 17, 18, 19, 20, 21, 22, 23});
}

TEST_CASE("jobs avoid racks of others, or share them") {
    Devices devices(tree());
    devices.take({0, 1});
    CHECK(*devices.choose(JobPlacement::avoiding, 2, {}, 1) == Numbers{8, 9});
    CHECK(*devices.choose(JobPlacement::sharing, 2, {}, 1) == Numbers{2, 3});
    // Where there is no other rack, it shares.
    devices.take({8, 16, 24});
    CHECK(devices.choose(JobPlacement::avoiding, 2, {}, 1).has_value());
}

TEST_CASE("random devices are different ones that are free, and the same for the same draw") {
    Devices devices(tree());
    devices.take({0, 5, 31});
    const Numbers drawn = *devices.choose(JobPlacement::random, 29, {}, 7);
    const std::set<std::int64_t> different(drawn.begin(), drawn.end());
    CHECK(different.size() == 29);
    for (const std::int64_t taken : {0, 5, 31}) CHECK(different.count(taken) == 0);
    CHECK(drawn == *devices.choose(JobPlacement::random, 29, {}, 7));
    CHECK(drawn != *devices.choose(JobPlacement::random, 29, {}, 8));
}

TEST_CASE("listed devices are those, or none") {
    Devices devices(tree());
    CHECK(*devices.choose(JobPlacement::listed, 3, {9, 2, 30}, 1) == Numbers{9, 2, 30});
    devices.take({2});
    CHECK_FALSE(devices.choose(JobPlacement::listed, 3, {9, 2, 30}, 1));
}

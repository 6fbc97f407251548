#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "sim/config/scenario.hpp"
#include "sim/replay/native.hpp"
#include "tests/catch.hpp"
#include "tests/replay/messages.hpp"

// Platforms in SimGrid's own format, written for these tests, from the file to the time of a message.

using namespace syncline;

namespace {

constexpr double us = 1e-6, ms = 1e-3;
constexpr std::uint64_t MB = 1'000'000;  // a millisecond at 1 GB/s

/// A platform from a file that names an XML file with this content, and contains `more`. Both files exist during its
/// lifetime, because SimGrid reads its file for every simulation.
struct Native : Cluster {
    explicit Native(const std::string& xml, const std::string& more = "")
        : directory((std::filesystem::temp_directory_path() / "syncline-native-XXXXXX").string()) {
        REQUIRE(mkdtemp(directory.data()) != nullptr);
        std::ofstream(directory + "/native.xml")
            << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            << "<platform version=\"4.1\">\n"
            << xml << "</platform>\n";
        std::ofstream(directory + "/platform.yaml") << "simgrid_xml: native.xml\n" << more;
        const std::vector<config::Argument> arguments{
            {"platform", directory + "/platform.yaml"}, {"ranks", "1"}, {"bytes", "1MB"}};
        static_cast<Cluster&>(*this) = config::load_collective(arguments, {}, inspect).cluster;
    }
    ~Native() { std::filesystem::remove_all(directory); }
    Native(const Native&) = delete;
    Native& operator=(const Native&) = delete;

    std::string directory;
};

void check(const Cluster& cluster, const std::vector<Expected>& messages) {
    check_at_once(cluster, one_by_node(static_cast<std::uint32_t>(cluster.nodes)), messages);
}

std::string cluster_tag(const std::string& hosts, const std::string& more) {
    return "<cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"" + hosts +
           "\" speed=\"2Gf\" bw=\"1GBps\" lat=\"10us\" " + more + "/>\n";
}

}  // namespace

TEST_CASE("native: a cluster has the expected links, with and without a backbone", "[memory]") {
    const Native plain(cluster_tag("0-11", ""));
    CHECK(plain.nodes == 12);
    CHECK(plain.device.flops_per_s == 2e9);
    check(plain, {{{0, 11, MB}, 20 * us + 1 * ms}});
    check(plain, {{{0, 1, MB}, 20 * us + 2 * ms}, {{0, 2, MB}, 20 * us + 2 * ms}});
    check(plain, {{{0, 1, MB}, 20 * us + 1 * ms}, {{1, 0, MB}, 20 * us + 1 * ms}, {{2, 3, MB}, 20 * us + 1 * ms}});
    // A backbone that all share, and one that is wide enough for all.
    const Native narrow(cluster_tag("0-3", "bb_bw=\"1GBps\" bb_lat=\"100us\""));
    check(narrow, {{{0, 1, MB}, 120 * us + 2 * ms}, {{2, 3, MB}, 120 * us + 2 * ms}});
    const Native fat(cluster_tag("0-3", "bb_bw=\"1GBps\" bb_lat=\"100us\" bb_sharing_policy=\"FATPIPE\""));
    check(fat, {{{0, 1, MB}, 120 * us + 1 * ms}, {{2, 3, MB}, 120 * us + 1 * ms}});
}

TEST_CASE("native: SimGrid's torus, fat tree and dragonfly are simulated", "[memory]") {
    const Native torus(cluster_tag("0-11", "topology=\"TORUS\" topo_parameters=\"4,3\""));
    check(torus, {{{0, 1, MB}, 10 * us + 1 * ms}});
    check(torus, {{{0, 6, MB}, 30 * us + 1 * ms}});
    check(torus, {{{0, 11, MB}, 20 * us + 1 * ms}, {{5, 6, MB}, 10 * us + 1 * ms}});
    const Native tree(cluster_tag("0-7", "topology=\"FAT_TREE\" topo_parameters=\"2;4,2;1,1;1,1\""));
    check(tree, {{{0, 3, MB}, 20 * us + 1 * ms}});
    check(tree, {{{0, 4, MB}, 40 * us + 2 * ms}, {{1, 5, MB}, 40 * us + 2 * ms}});
    check(tree, {{{0, 4, MB}, 40 * us + 1 * ms}, {{1, 2, MB}, 20 * us + 1 * ms}, {{6, 3, MB}, 40 * us + 1 * ms}});
    // Two groups of two routers, a host each; router 1 of group 0 leads to router 0 of group 1.
    const Native dragonfly(cluster_tag("0-3", "topology=\"DRAGONFLY\" topo_parameters=\"2,1;1,1;2,1;1\""));
    check(dragonfly, {{{0, 1, MB}, 30 * us + 1 * ms}});
    check(dragonfly, {{{1, 2, MB}, 30 * us + 1 * ms}});
    check(dragonfly, {{{0, 3, MB}, 50 * us + 1 * ms}});
}

TEST_CASE("native: a full zone may have links that several routes share", "[memory]") {
    const Native full(R"(<zone id="z" routing="Full">
  <host id="a" speed="1Gf"/><host id="b" speed="3Gf"/><host id="c" speed="2Gf"/>
  <link id="common" bandwidth="1GBps" latency="10us"/>
  <link id="to-b" bandwidth="0.5GBps" latency="1us"/>
  <link id="to-c" bandwidth="4GBps" latency="100us"/>
  <route src="a" dst="b"><link_ctn id="common"/><link_ctn id="to-b"/></route>
  <route src="a" dst="c"><link_ctn id="common"/><link_ctn id="to-c"/></route>
  <route src="b" dst="c"><link_ctn id="to-b"/><link_ctn id="to-c"/></route>
</zone>
)");
    CHECK(full.nodes == 3);
    CHECK(full.device.flops_per_s == 1e9);  // that of the slowest host
    check(full, {{{0, 1, MB}, 11 * us + 2 * ms}});
    check(full, {{{2, 0, MB}, 110 * us + 1 * ms}});
    // Equal shares whatever the latencies, and the rest that the narrower one leaves.
    check(full, {{{0, 1, MB}, 11 * us + 2 * ms}, {{0, 2, MB}, 110 * us + 2 * ms}});
    check(full, {{{0, 2, MB}, 110 * us + 2 * ms}, {{0, 2, 0}, 110 * us}, {{0, 1, MB}, 11 * us + 2 * ms}});
    // By default SimGrid has one capacity for both directions.
    check(full, {{{0, 2, MB}, 110 * us + 2 * ms}, {{2, 0, MB}, 110 * us + 2 * ms}});
}

TEST_CASE("native: a Floyd zone, a star zone and nested zones are simulated", "[memory]") {
    const std::string line = R"(<zone id="z" routing="Floyd">
  <host id="n1" speed="1Gf"/><host id="n2" speed="1Gf"/><host id="n10" speed="1Gf"/>
  <link id="l1" bandwidth="1GBps" latency="10us" sharing_policy="SPLITDUPLEX"/>
  <link id="l2" bandwidth="0.5GBps" latency="5us" sharing_policy="SPLITDUPLEX"/>
  <route src="n1" dst="n2"><link_ctn id="l1" direction="UP"/></route>
  <route src="n2" dst="n10"><link_ctn id="l2" direction="UP"/></route>
</zone>
)";
    // By name, with numbers compared as numbers: n1, n2, n10.
    check(Native(line), {{{0, 2, MB}, 15 * us + 2 * ms}, {{2, 0, MB}, 15 * us + 2 * ms}});
    check(Native(line), {{{0, 1, MB}, 10 * us + 1 * ms}, {{1, 2, MB}, 5 * us + 2 * ms}});
    // In the user's order.
    const Native two(line, "hosts: [n10, n1]\n");
    CHECK(two.nodes == 2);
    check(two, {{{1, 0, MB}, 15 * us + 2 * ms}});

    const Native star(R"(<zone id="z" routing="Cluster">
  <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><host id="c" speed="1Gf"/>
  <link id="la" bandwidth="1GBps" latency="10us" sharing_policy="SPLITDUPLEX"/>
  <link id="lb" bandwidth="0.5GBps" latency="20us" sharing_policy="SPLITDUPLEX"/>
  <link id="lc" bandwidth="0.25GBps" latency="40us" sharing_policy="SPLITDUPLEX"/>
  <host_link id="a" up="la_UP" down="la_DOWN"/>
  <host_link id="b" up="lb_UP" down="lb_DOWN"/>
  <host_link id="c" up="lc_UP" down="lc_DOWN"/>
</zone>
)");
    check(star, {{{0, 1, MB}, 30 * us + 2 * ms}, {{1, 0, MB}, 30 * us + 2 * ms}});
    check(star, {{{0, 2, MB}, 50 * us + 4 * ms}, {{0, 1, MB}, 30 * us + 2 * ms}});

    const Native zones(R"(<zone id="z" routing="Full">
  <cluster id="c1" prefix="a" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us" router_id="r1"/>
  <cluster id="c2" prefix="b" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us" router_id="r2"/>
  <link id="wide" bandwidth="0.5GBps" latency="1ms"/>
  <zoneRoute src="c1" dst="c2" gw_src="r1" gw_dst="r2"><link_ctn id="wide"/></zoneRoute>
</zone>
)");
    CHECK(zones.nodes == 4);
    check(zones, {{{0, 1, MB}, 2 * us + 1 * ms}});
    check(zones, {{{0, 2, MB}, 1002 * us + 4 * ms}, {{1, 3, MB}, 1002 * us + 4 * ms}});
}

TEST_CASE("native: latency may come from coordinates rather than links", "[memory]") {
    // Vivaldi: |a - b| in the plane and both heights, in ms: 5 + 1 + 2. Peers have links without latency.
    const Native peers(R"(<zone id="z" routing="Vivaldi">
  <peer id="p1" speed="1Gf" bw_in="1GBps" bw_out="0.5GBps" coordinates="0.0 0.0 1.0"/>
  <peer id="p2" speed="1Gf" bw_in="1GBps" bw_out="0.25GBps" coordinates="3.0 4.0 2.0"/>
</zone>
)");
    check(peers, {{{0, 1, MB}, 8 * ms + 2 * ms}});
    check(peers, {{{1, 0, MB}, 8 * ms + 4 * ms}});
}

TEST_CASE("native: an exchange may use a device given with the platform", "[memory]") {
    const Native cluster(cluster_tag("0-7", ""),
                         "device: {flops: 1 Tflops, memory_bandwidth: 30 GBps}\nhosts: [n7, n1, n3, n2, n5]\n");
    CHECK(cluster.nodes == 5);
    CHECK(cluster.device.flops_per_s == 1e12);
    // Each host sends to the next: every link carries one message in each direction.
    std::vector<Expected> ring;
    for (std::uint32_t rank = 0; rank < 5; ++rank) ring.push_back({{rank, (rank + 1) % 5, MB}, 20 * us + 1 * ms});
    check(cluster, ring);
}

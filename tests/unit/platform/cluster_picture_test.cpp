#include "sim/platform/cluster_picture.hpp"

#include "sim/base/xml_reader.hpp"
#include "tests/catch.hpp"

using namespace syncline;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Ignored : XmlHandler {
    void open(const XmlTag&) override {}
    void close(std::string_view, std::string_view) override {}
};

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

/// Nodes with eight devices and ports of 400 Gb/s.
Cluster cluster_of(Shape shape) {
    Cluster cluster;
    cluster.name = "a <cluster>";
    cluster.device.name = "h100";
    cluster.node.devices = cluster.node.nics = 8;
    cluster.node.link.bandwidth_Bps = 450e9;
    cluster.fabric.topology.shape = shape;
    cluster.fabric.topology.bandwidth_Bps = {50e9};
    return cluster;
}

}  // namespace

TEST_CASE("a cluster is drawn as one node in full, with the number of the others") {
    Cluster cluster = cluster_of(Shape::star);
    cluster.nodes = 5;
    cluster.node.devices = cluster.node.nics = 72;
    const std::string svg = cluster_svg(cluster);
    Ignored ignored;
    parse_xml(svg, ignored);
    CHECK(count(svg, "class=\"device\"") == 72);
    CHECK(count(svg, "class=\"port\"") == 72);
    CHECK(count(svg, "class=\"cable\"") == 72);
    CHECK(count(svg, "class=\"switch\"") == 1);
    CHECK_THAT(svg, ContainsSubstring("a &lt;cluster&gt;: 5 nodes with 72 × h100 and 72 ports each"));
    CHECK_THAT(svg, ContainsSubstring(">72 ports of 400 Gb/s<"));
    CHECK_THAT(svg, ContainsSubstring("NVSwitch: 450 GB/s each way") && ContainsSubstring(">4 more nodes<"));
    CHECK(svg == cluster_svg(cluster));

    cluster.nodes = 1;
    CHECK_THAT(cluster_svg(cluster), !ContainsSubstring("more node"));
}

TEST_CASE("rails: a leaf for each port, and what leads up from it") {
    Cluster cluster = cluster_of(Shape::rails);
    TopologySpec& rails = cluster.fabric.topology;
    rails.rails = 8;
    rails.nodes_per_group = 32;
    rails.spines = 2;
    rails.bandwidth_Bps = {50e9, 400e9};
    // Down 32 × 400 Gb/s = 12.8 Tb/s, up 2 × 3.2 Tb/s = 6.4 Tb/s.
    const std::string svg = cluster_svg(cluster);
    CHECK_THAT(svg, ContainsSubstring(">32 × 400 Gb/s down, 2 × 3.2 Tb/s up;<"));
    CHECK_THAT(svg, ContainsSubstring(">oversubscribed 2:1<"));
    CHECK_THAT(svg, ContainsSubstring(">31 more nodes<") && ContainsSubstring("as many groups as needed"));
    CHECK(count(svg, "class=\"switch\"") == 8 + 2);
    CHECK(count(svg, "class=\"cable\"") == 8 + 8 * 2);

    rails.spines = 0;
    CHECK_THAT(cluster_svg(cluster), ContainsSubstring("rails are networks of their own"));
}

TEST_CASE("a fat tree: nodes of a leaf, leaves of a pod, oversubscription of each level") {
    Cluster cluster = cluster_of(Shape::fat_tree);
    cluster.nodes = 64;
    cluster.fabric.topology.down = {32, 8, 2};
    cluster.fabric.topology.up = {1, 16, 8};
    const std::string svg = cluster_svg(cluster);
    CHECK_THAT(
        svg, ContainsSubstring(">32 × 400 Gb/s down, 16 × 400 Gb/s up;<") && ContainsSubstring(">oversubscribed 2:1<"));
    // A spine has 8 leaves below it and 8 cores above.
    CHECK_THAT(svg,
               ContainsSubstring(">8 × 400 Gb/s down, 8 × 400 Gb/s up;<") && ContainsSubstring(">not oversubscribed<"));
    CHECK_THAT(svg, ContainsSubstring(">8 leaves of a pod<") && ContainsSubstring(">16 spines<"));
    // 32 ports below a leaf are four nodes: 16 such groups.
    CHECK_THAT(svg, ContainsSubstring(">3 more nodes<") && ContainsSubstring("16 groups in all"));

    cluster.fabric.topology.down = cluster.fabric.topology.up = {};
    cluster.fabric.topology.ports = 64;
    CHECK_THAT(cluster_svg(cluster), ContainsSubstring(">32 leaves of a pod<") && ContainsSubstring(">32 cores<"));
}

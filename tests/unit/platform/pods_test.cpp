#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/config/file_kinds.hpp"
#include "sim/platform/wiring.hpp"
#include "sim/topology/shape.hpp"
#include "tests/catch.hpp"

// Shipped platforms of today against their sources: devices, ports, and the bandwidth of each level of the network.

using namespace syncline;

namespace {

Cluster platform(const std::string& name) {
    config::Assembly assembly;
    config::Node node = assembly.load_argument(SYNCLINE_SOURCE_DIR "/platforms/" + name + ".yaml");
    assembly.expand_platform(node);
    Cluster cluster;
    assembly.read(node, "platform", [&](config::Fields& fields) { describe(fields, cluster); });
    assembly.finish();
    CHECK(cluster.name == name);
    return cluster;
}

/// Returns the bandwidth of all cables from a vertex of this level, in one direction, to a higher level.
std::vector<double> upward_Bps(const Topology& topology) {
    std::vector<double> sums;
    const auto level = [&](std::size_t vertex) { return topology.graph[vertex].level; };
    for (auto [edge, end] = boost::edges(topology.graph); edge != end; ++edge) {
        const auto from = boost::source(*edge, topology.graph), to = boost::target(*edge, topology.graph);
        if (level(from) >= level(to)) continue;
        if (sums.size() <= level(from)) sums.resize(level(from) + 1);
        sums[level(from)] += topology.graph[*edge].wire.bandwidth_Bps;
    }
    return sums;
}

constexpr double Gbps = 1e9 / 8;

}  // namespace

TEST_CASE("pods: nodes have the published devices, links and ports", "[memory]") {
    struct Made {
        std::string name, device;
        std::int64_t devices, ports;
        double link_Bps, port_Bps;  ///< of a device, in each direction; of all ports of a node
        std::int64_t nodes;         ///< 0: as many as needed
    };
    const Made all[] = {
        {"dgx2", "v100-sxm3-32gb", 16, 8, 300e9 / 2, 800 * Gbps, 0},
        {"dgx-h100", "h100-sxm", 8, 8, 900e9 / 2, 3200 * Gbps, 0},
        {"dgx-h100-clos", "h100-sxm", 8, 8, 900e9 / 2, 3200 * Gbps, 16384 / 8},
        {"llama3-roce", "h100-sxm", 8, 8, 900e9 / 2, 3200 * Gbps, 24576 / 8},
        {"hgx-h200", "h200", 8, 8, 900e9 / 2, 3200 * Gbps, 0},
        {"dgx-b200", "b200", 8, 8, 14.4e12 / 2 / 8, 3200 * Gbps, 0},
        {"gb200-nvl72", "gb200", 72, 72, 1.8e12 / 2, 72 * 400 * Gbps, 0},
        {"dgx-b300", "b300", 8, 8, 14.4e12 / 2 / 8, 8 * 800 * Gbps, 0},
        {"gb300-nvl72", "gb300", 72, 72, 1.8e12 / 2, 72 * 800 * Gbps, 0},
        {"aws-p4d", "a100-sxm4-40gb", 8, 4, 600e9 / 2, 400 * Gbps, 0},
        {"aws-p5", "h100-sxm", 8, 8, 900e9 / 2, 3200 * Gbps, 0},
        {"mi300x-rails", "mi300x", 8, 8, 128e9 / 2, 3200 * Gbps, 0},
        {"tpu-v4-pod", "tpu-v4", 1, 1, 0, 50e9, 4096},
    };
    for (const Made& made : all) {
        CAPTURE(made.name);
        const Cluster cluster = platform(made.name);
        CHECK(cluster.device.name == made.device);
        CHECK(cluster.node.devices == made.devices);
        CHECK(cluster.node.nics == made.ports);
        CHECK(cluster.node.link.bandwidth_Bps == Approx(made.link_Bps));
        CHECK(cluster.fabric.topology.bandwidth_Bps.front() * static_cast<double>(made.ports) == Approx(made.port_Bps));
        CHECK(cluster.nodes == made.nodes);
    }
}

TEST_CASE("pods: levels above the leaves have the bandwidth below them, or a seventh of it", "[memory]") {
    struct Made {
        std::string name;
        std::int64_t ports;
        std::vector<double> parts;  ///< bandwidth of each level upwards, of that of the hosts
    };
    // A rail platform of four scalable units has 32 leaves and one switch above them.
    for (const Made& made : {Made{"dgx-h100-clos", 0, {1, 1, 1}}, Made{"llama3-roce", 0, {1, 1, 1.0 / 7}},
                             Made{"dgx-h100", 4 * 32 * 8, {1, 1}}, Made{"hgx-h200", 4 * 32 * 8, {1, 1}},
                             Made{"dgx-b200", 4 * 32 * 8, {1, 1}}, Made{"mi300x-rails", 4 * 32 * 8, {1, 1}}}) {
        CAPTURE(made.name);
        const Topology topology = make_topology(platform(made.name).fabric.topology, Use::fabric, made.ports);
        const std::vector<double> sums = upward_Bps(topology);
        REQUIRE(sums.size() == made.parts.size());
        for (std::size_t level = 0; level < sums.size(); ++level)
            CHECK(sums[level] == Approx(sums[0] * made.parts[level]).epsilon(1e-3));
        CHECK(sums[0] == Approx(static_cast<double>(topology.hosts) * 400 * Gbps));
    }
}

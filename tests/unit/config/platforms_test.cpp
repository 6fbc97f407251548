#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "sim/platform/node_rings.hpp"
#include "tests/catch.hpp"
#include "tests/unit/dgx1.hpp"

using namespace syncline;

namespace {

Cluster read_cluster(const config::Node& node) {
    Cluster cluster;
    std::vector<Diagnostic> errors;
    config::read(
        node, "platform", [&](config::Fields& fields) { describe(fields, cluster); }, errors);
    if (!errors.empty()) throw ConfigError(errors);
    return cluster;
}

Cluster shipped(const std::string& name) {
    config::Library library;
    config::Node node = library.load_argument(SYNCLINE_SOURCE_DIR "/platforms/" + name + ".yaml");
    library.expand(*node.find("device"));
    return read_cluster(node);
}

Cluster written(const std::string& text) {
    config::Library library;
    return read_cluster(library.parse("test.yaml", text, "."));
}

const std::string small =
    "nodes: 2\ndevice: {flops: 1 Tflops, memory_bandwidth: 300 GBps}\nfabric: {bandwidth: 8 Gbps, latency: 1 us}\n";

}  // namespace

TEST_CASE("the presets differ in their network alone", "[memory]") {
    // FDR carries 64 bits of data in 66: 4 · 14.0625 Gb/s · 64/66 = 54.54 Gb/s; EDR 4 · 25.78125 · 64/66 = 100
    // (Wikipedia, InfiniBand).
    for (const auto& [name, bits_per_s] :
         {std::pair{"p100-25g", 25e9}, std::pair{"p100-56g", 54.54e9}, std::pair{"p100-100g", 100e9}}) {
        INFO(name);
        const Cluster cluster = shipped(name);
        CHECK(cluster.name == name);
        CHECK(cluster.nodes == 0);  // as many as needed
        CHECK(cluster.fabric.topology.shape == Shape::star);
        CHECK(cluster.fabric.topology.bandwidth_Bps.front() == Approx(bits_per_s / 8));
        CHECK(cluster.fabric.topology.latency_s.front() == Approx(1e-6));
        CHECK(cluster.network == NetworkModel::exact);
        CHECK(cluster.host.reduction_Bps == Approx(25.6e9));
        CHECK(cluster.host.loopback_Bps == Approx(38.4e9));
        // NVIDIA Tesla P100 datasheet; NVIDIA NCCL, src/graph/topo.h.
        CHECK(cluster.device.name == "p100-sxm2");
        CHECK(cluster.device.flops_per_s == Approx(10.6e12));
        CHECK(cluster.device.memory_Bps == Approx(732e9));
        CHECK(cluster.device.host_link_Bps == Approx(12e9));
        CHECK(cluster.device.reduction_Bps == Approx(244e9));
    }
}

TEST_CASE("the P100 is calibrated with TensorFlow's published throughputs", "[memory]") {
    // TensorFlow benchmarks page, DGX-1, one P100, synthetic data, May 2017.
    const Device device = shipped("p100-25g").device;
    using Rows = std::vector<std::pair<std::int64_t, double>>;
    for (const auto& [workload, published] :
         {std::pair{"resnet-50", Rows{{64, 219}, {32, 195}}}, std::pair{"resnet-152", Rows{{64, 91.8}, {32, 82.7}}},
          std::pair{"inception-v3", Rows{{64, 142}, {32, 128}}}, std::pair{"vgg-16", Rows{{64, 154}, {32, 144}}},
          std::pair{"alexnet-tf", Rows{{512, 2987}}}}) {
        INFO(workload);
        Rows found;
        for (const Calibration& calibration : device.calibration) {
            if (calibration.workload != workload) continue;
            if (found.empty()) CHECK(calibration.source.find("TensorFlow benchmarks") != std::string::npos);
            found.emplace_back(calibration.batch, calibration.samples_per_s);
        }
        CHECK(found == published);
    }
}

TEST_CASE("keys that a platform omits cost no time, except an addition on the device", "[memory]") {
    const Cluster cluster = written(small);
    CHECK(std::isinf(cluster.device.host_link_Bps));
    CHECK(std::isinf(cluster.host.reduction_Bps));
    CHECK(std::isinf(cluster.host.loopback_Bps));
    CHECK(cluster.device.reduction_Bps == Approx(100e9));
    CHECK(cluster.device.calibration.empty());
}

TEST_CASE("a rate can be unlimited", "[memory]") {
    const Cluster cluster = written(small + "host: {reduction_rate: unlimited}\n");
    CHECK(std::isinf(cluster.host.reduction_Bps));
}

TEST_CASE("network models have SimGrid's names", "[memory]") {
    CHECK(written(small + "network: {model: SMPI}\n").network == NetworkModel::SMPI);
    CHECK_THROWS_AS(written(small + "network: {model: LV09}\n"), ConfigError);
}

TEST_CASE("routes have a policy", "[memory]") {
    using Policy = Routing::Policy;
    const auto policy = [](const std::string& routing, const std::string& fabric = "ring") {
        return written("nodes: 16\ndevice: {flops: 1 Tflops, memory_bandwidth: 300 GBps}\nfabric: {topology: " +
                       fabric + ", bandwidth: 8 Gbps, latency: 1 us}\n" + routing);
    };
    const auto of = [&](const std::string& routing, const std::string& fabric = "ring") {
        return policy_of(policy(routing, fabric).fabric);
    };
    CHECK(of("") == Policy::ecmp);
    CHECK(of("", "fat-tree") == Policy::d_mod_k);
    CHECK(of("routing: {shortest: hops}\n", "fat-tree") == Policy::d_mod_k);
    CHECK(of("routing: {policy: d-mod-k}\n", "fat-tree") == Policy::d_mod_k);
    for (const char* fabric : {"ring", "fat-tree"}) {
        CHECK(of("routing: {policy: ecmp}\n", fabric) == Policy::ecmp);
        CHECK(of("routing: {policy: first}\n", fabric) == Policy::first);
        CHECK(of("routing: {policy: adaptive-at-start}\n", fabric) == Policy::adaptive_at_start);
        CHECK(of("routing: {policy: spray}\n", fabric) == Policy::spray);
    }
    CHECK(of("routing: {policy: valiant}\n", "dragonfly") == Policy::valiant);
    CHECK(of("routing: {policy: ugal}\n", "dragonfly") == Policy::ugal);
    CHECK_THROWS_AS(policy("routing: {policy: ugal}\nnetwork: {model: LV08}\n", "dragonfly"), ConfigError);
    for (const char* refused :
         {"routing: {policy: d-mod-k}\n", "routing: {policy: shortest}\n", "routing: {policy: valiant}\n",
          "routing: {policy: spray}\nnetwork: {model: LV08}\n", "routing: {policy: ugal}\n",
          "routing: {policy: adaptive-at-start}\nnetwork: {model: LV08}\n"}) {
        CAPTURE(refused);
        CHECK_THROWS_AS(policy(refused), ConfigError);
    }
}

TEST_CASE("a latency can be none", "[memory]") {
    const Cluster instant = written(
        "nodes: 1\ndevice: {flops: 1 Tflops, memory_bandwidth: 1 GBps}\nfabric: {bandwidth: 1 Gbps, latency: none}\n");
    CHECK(instant.fabric.topology.latency_s.front() == 0);
}

TEST_CASE("the shipped DGX-1 has the NVLink of P100 and PCIe for its ports", "[memory]") {
    const Cluster cluster = shipped("dgx1-rails");
    const NodeDesign& node = cluster.node;
    const NodeDesign listed = dgx1_p100();
    CHECK(node.links == NodeLinks::mesh);
    CHECK(node.has_pcie());
    CHECK(node.pcie_wire().bandwidth_Bps == Approx(12e9));
    CHECK(node.link.bandwidth_Bps == Approx(18e9));
    CHECK(node.pairs.size() == 16);
    std::vector<std::uint32_t> all;
    for (std::uint32_t a = 0; a < 8; ++a) {
        all.push_back(a);
        std::uint32_t links = 0;
        for (std::uint32_t b = 0; b < 8; ++b) {
            CHECK(direct_links(node, a, b) == direct_links(listed, a, b));
            links += direct_links(node, a, b);
        }
        CHECK(links == 4);
    }
    CHECK(node_rings(node, all, 8).size() == 4);
}

TEST_CASE("a mesh of devices: pairs and parallel links and PCIe", "[memory]") {
    const auto mesh = [](const std::string& links) {
        return written(small + "per_node:\n  devices: 4\n  links: {pattern: mesh, bandwidth: 20 GBps, latency: 1 us, " +
                       links + "}\n")
            .node;
    };
    const NodeDesign node = mesh("pairs: [0-1, 3-1x2, 2-3x64]");
    CHECK(node.links == NodeLinks::mesh);
    CHECK_FALSE(node.has_pcie());
    CHECK(node.pairs.size() == 3);
    CHECK(direct_links(node, 0, 1) == 1);
    CHECK(direct_links(node, 1, 3) == 2);
    CHECK(direct_links(node, 3, 1) == 2);
    CHECK(direct_links(node, 2, 3) == 64);
    CHECK(direct_links(node, 0, 2) == 0);
    const NodeDesign both = mesh("pairs: [0-1], pcie: {bandwidth: 12 GBps, latency: none}, devices_per_switch: 4");
    CHECK(both.has_pcie());
    CHECK(both.pcie_wire().bandwidth_Bps == Approx(12e9));
    CHECK(both.devices_per_switch == 4);
}

TEST_CASE("switches add up only if a platform says so", "[memory]") {
    const std::string node = "per_node: {devices: 2, links: {pattern: switch, bandwidth: 1 GBps, latency: none";
    CHECK_FALSE(written(small).fabric.reduces);
    CHECK_FALSE(written(small + node + "}}\n").node.switch_reduces);
    CHECK(written(small + node + ", reduces: true}}\n").node.switch_reduces);
    const std::string device = "nodes: 2\ndevice: {flops: 1 Tflops, memory_bandwidth: 300 GBps}\n";
    CHECK(written(device + "fabric: {bandwidth: 8 Gbps, latency: 1 us, reduces: true}\n").fabric.reduces);
}

#include "sim/analysis/nominal_links.hpp"
#include "tests/catch.hpp"
#include "tests/unit/layers.hpp"

// Notes on links that software rarely uses at their nominal rate.

using namespace syncline;

namespace {

std::vector<std::string> notes(const Cluster& cluster, std::int64_t ranks) {
    Model model;
    model.layers = {dense("layer", 10, 10, false)};
    Plan plan;
    plan.ranks = ranks;
    return nominal_link_notes(lower(cluster, model, plan));
}

bool names(const std::vector<std::string>& all, const std::string& key) {
    return all.size() == 1 && all.front().find("`" + key + "`") != std::string::npos;
}

}  // namespace

TEST_CASE("nominal links: a fast port without a transport names the key of its limit", "[memory]") {
    Cluster cluster = star_cluster(2, 12.5e9, 1e-6);
    CHECK(names(notes(cluster, 2), "host_bandwidth"));
    CHECK(notes(cluster, 1).empty());                         // nothing passes the port
    CHECK(notes(star_cluster(2, 3.125e9, 1e-6), 2).empty());  // 25 Gb/s
    cluster.transport.between.send_overhead_s = 1e-6;         // a transport says what software does
    CHECK(notes(cluster, 2).empty());
}

TEST_CASE("nominal links: PCIe without a slowdown of computation names the key of it", "[memory]") {
    Cluster cluster = star_cluster(1, 1e9, 1e-6);
    cluster.node.devices = 2;
    cluster.node.links = NodeLinks::pcie;
    cluster.node.link = {11e9, 1e-6};
    CHECK(names(notes(cluster, 2), "speed_beside_exchange"));
    CHECK(notes(cluster, 1).empty());
    cluster.device.speed_beside_exchange = 0.8;
    CHECK(notes(cluster, 2).empty());
}

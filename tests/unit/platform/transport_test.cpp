#include "sim/platform/transport.hpp"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "sim/platform/wiring.hpp"
#include "tests/catch.hpp"

// Terms of a transport, and the links that limit the total traffic of a node.

using namespace syncline;

namespace {

MessageTerms curve(std::vector<BandwidthPoint> points) {
    MessageTerms terms;
    terms.bandwidth = std::move(points);
    return terms;
}

}  // namespace

TEST_CASE("a connection without points has no limit, and with one point the same limit at any size", "[memory]") {
    for (const double bytes : {0.0, 1.0, 1e9}) {
        CHECK(std::isinf(MessageTerms{}.limit_Bps(bytes)));
        CHECK(curve({{4096, 1e9}}).limit_Bps(bytes) == 1e9);
    }
}

TEST_CASE("between two points a message's time is linear in its size", "[memory]") {
    const MessageTerms terms = curve({{1000, 1e6}, {3000, 1.5e6}, {1e6, 1e8}});
    CHECK(terms.limit_Bps(1) == 1e6);
    CHECK(terms.limit_Bps(1000) == Approx(1e6));
    CHECK(terms.limit_Bps(3000) == Approx(1.5e6));
    CHECK(terms.limit_Bps(1e6) == Approx(1e8));
    CHECK(terms.limit_Bps(1e9) == 1e8);
    // 1 ms for 1000 bytes and 2 ms for 3000: 1.5 ms for 2000.
    CHECK(terms.limit_Bps(2000) == Approx(2000 / 1.5e-3));
    CHECK(terms.limit_Bps(2500) == Approx(2500 / 1.75e-3));
}

TEST_CASE("if the points' times do not fall, larger messages take no less time, without jumps", "[memory]") {
    for (const MessageTerms& terms :
         {curve({{7, 1e6}, {64, 1e6}, {4097, 3e7}, {1e6, 2e8}}), curve({{100, 1e6}, {200, 2e6}, {400, 4e6}})}) {
        double before_s = 0;
        for (double bytes = 1; bytes < 2e6; bytes *= 1.001) {
            const double seconds = bytes / terms.limit_Bps(bytes);
            CHECK(seconds >= before_s * (1 - 1e-12));
            if (before_s > 0) CHECK(seconds <= before_s * 1.0011);
            before_s = seconds;
        }
    }
}

TEST_CASE("an empty copy takes no time, and another its latency and its bytes", "[memory]") {
    Staging staging;
    staging.latency_s = 5e-6;
    CHECK(staging.copy_s(0, 1e9) == 0);
    CHECK(staging.copy_s(1000, 1e9) == Approx(6e-6));
    CHECK(staging.copy_s(1000, unlimited) == Approx(5e-6));
    staging.rate_Bps = 2e9;
    CHECK(staging.copy_s(1000, 1e9) == Approx(5.5e-6));
}

TEST_CASE("collectives reduce on the transport's processor, at its rate or the platform's", "[memory]") {
    Cluster cluster;
    cluster.device.reduction_Bps = 200e9;
    cluster.host.reduction_Bps = 25e9;
    CHECK(reduction_Bps(cluster) == 200e9);
    cluster.transport.reduction.where = Reduction::Where::host;
    CHECK(reduction_Bps(cluster) == 25e9);
    cluster.transport.reduction.rate_Bps = 10e9;
    CHECK(reduction_Bps(cluster) == 10e9);
}

TEST_CASE("a transport is plain if it only has a name", "[memory]") {
    Transport transport;
    transport.name = "nothing";
    CHECK(is_plain(transport));
    transport.inside.latency_s = 1e-6;
    CHECK_FALSE(is_plain(transport));
    transport = {};
    transport.window = 1;
    CHECK_FALSE(is_plain(transport));
}

TEST_CASE("a node's limit on total traffic is a link on its paths to other nodes, and on no others", "[memory]") {
    for (const NodeLinks links : {NodeLinks::all_to_all, NodeLinks::ring, NodeLinks::crossbar, NodeLinks::pcie}) {
        for (const std::int64_t devices : {1, 2, 5}) {
            for (const double port_Bps : {unlimited, 2e9}) {
                Cluster cluster = star_cluster(3, 1e9, 1e-6);
                cluster.node.devices = devices;
                cluster.node.links = links;
                cluster.node.link = {4e9, 1e-6};
                cluster.node.nic_link = {port_Bps, 0};
                const Wiring::Link before = Wiring(cluster, 3).links();
                cluster.transport.host_Bps = 5e8;
                Wiring wiring(cluster, 3);
                CHECK(wiring.links() == before + 2 * 3);
                std::set<std::string> names;
                for (Wiring::Link link = 0; link < wiring.links(); ++link) {
                    names.insert(wiring.name(link));
                    const bool ours = wiring.name(link).find("/transport-") != std::string::npos;
                    CHECK((wiring.wire(link).bandwidth_Bps == 5e8) == ours);
                    if (ours) CHECK(wiring.wire(link).latency_s == 0);
                }
                CHECK(names.size() == wiring.links());
                for (const Place from : {Place{0, 0}, Place{0, Place::host}, Place{2, 0}}) {
                    for (const Place to : {Place{0, 0}, Place{1, 0}, Place{1, Place::host}}) {
                        std::vector<Wiring::Link> route;
                        wiring.route(from, to, route);
                        std::vector<std::string> limits;
                        for (const Wiring::Link link : route) {
                            if (wiring.wire(link).bandwidth_Bps == 5e8) limits.push_back(wiring.name(link));
                        }
                        std::vector<std::string> expected;
                        if (from.node != to.node)
                            expected = {"node-" + std::to_string(from.node) + "/transport-out",
                                        "node-" + std::to_string(to.node) + "/transport-in"};
                        CHECK(limits == expected);
                        CHECK(std::set(route.begin(), route.end()).size() == route.size());
                    }
                }
            }
        }
    }
}

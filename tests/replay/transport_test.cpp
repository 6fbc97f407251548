#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/platform/wiring.hpp"
#include "tests/catch.hpp"
#include "tests/replay/scripted.hpp"

// Costs that a transport adds to messages and collectives, compared with sums written out here.

using namespace syncline;

namespace {

constexpr double bandwidth = 1e9;
constexpr double alpha = 2e-6;  // two links of a star
constexpr double tiny = 1e-12;

Cluster star(std::int64_t nodes = 64) {
    Cluster cluster = star_cluster(nodes, bandwidth, alpha / 2);
    cluster.latency = Latency::blocking;  // the times are worked out by hand for senders that wait for the delivery
    cluster.device.reduction_Bps = 50e9;
    cluster.device.host_link_Bps = 4e9;
    cluster.host.reduction_Bps = 5e9;
    return cluster;
}

std::vector<Place> nodes(std::uint32_t count) {
    std::vector<Place> places;
    for (std::uint32_t node = 0; node < count; ++node) places.push_back({node, 0});
    return places;
}

Step step(std::vector<Message> sends, std::vector<Message> receives, bool reduce = false) {
    Step result;
    result.sends = std::move(sends);
    result.receives = std::move(receives);
    result.reduce = reduce;
    return result;
}

/// From member 0 to member 1.
std::vector<std::vector<Step>> one_message(std::uint32_t bytes, bool reduce = false) {
    return {{step({{1, 0, bytes}}, {})}, {step({}, {{0, 0, bytes}}, reduce)}};
}

Approx about(double seconds) {
    return Approx(seconds).epsilon(1e-9).margin(tiny);
}

}  // namespace

TEST_CASE("transport: a message's overheads, query, copies, latency and reduction come one after the other",
          "[memory]") {
    Cluster cluster = star();
    Transport& transport = cluster.transport;
    transport.between = {3e-6, 5e-6, 7e-6, {}};
    transport.inside = {1, 1, 1, {}};  // seconds, which no message pays
    transport.staging = {Staging::Unit::message, {}, 11e-6};
    transport.driver_query_s = 1e-6;
    transport.launch_s = 13e-6;
    transport.reduction = {Reduction::Where::host, {}, 17e-6};
    for (const std::uint32_t bytes : {0u, 1u, 1001u, 1000000u}) {
        for (const bool reduce : {false, true}) {
            CAPTURE(bytes, reduce);
            const double copy_s = bytes == 0 ? 0 : 11e-6 + bytes / 4e9;
            const double reduction_s = bytes == 0 || !reduce ? 0 : 17e-6 + bytes / 5e9;
            const double sent_s = 13e-6 + 1e-6 + copy_s + 3e-6 + bytes / bandwidth + alpha + 7e-6;
            const auto ends = play(cluster, nodes(2), one_message(bytes, reduce)).ends;
            CHECK(ends[0] == about(sent_s));
            CHECK(ends[1] == about(sent_s + 5e-6 + 1e-6 + copy_s + reduction_s));
        }
    }
    transport.driver_query_s = 0;
    CHECK(play(cluster, nodes(2), one_message(0)).ends[1] == about(13e-6 + 3e-6 + alpha + 7e-6 + 5e-6));
}

TEST_CASE("transport: processes of one node, a host and a device among them, pay the terms of inside", "[memory]") {
    Cluster cluster = star();
    cluster.node.devices = 2;
    cluster.node.link = {8e9, 1e-6};
    cluster.host.loopback_Bps = 2e9;
    cluster.transport.between = {1, 1, 1, {{1, 1}}};
    cluster.transport.inside = {3e-6, 5e-6, 7e-6, {{1, 1e8}}};
    const double through_switch_s = 3e-6 + 1000 / 1e8 + 2 * 1e-6 + 7e-6 + 5e-6;
    CHECK(play(cluster, {{0, 0}, {0, 1}}, one_message(1000)).ends[1] == about(through_switch_s));
    CHECK(play(cluster, {{0, 0}, {0, Place::host}}, one_message(1000)).ends[1] == about(through_switch_s - 2e-6));
    // With an unlimited loopback the connection's limit applies.
    cluster.host.loopback_Bps = unlimited;
    CHECK(play(cluster, {{0, 1}, {0, Place::host}}, one_message(1000)).ends[1] == about(through_switch_s - 2e-6));
}

TEST_CASE("transport: a host stages nothing, and its reductions launch no kernels", "[memory]") {
    Cluster cluster = star();
    cluster.transport.staging = {Staging::Unit::message, {}, 11e-6};
    cluster.transport.reduction.launch_s = 17e-6;
    const double on_wires_s = 1000 / bandwidth + alpha;
    const double copy_s = 11e-6 + 1000 / 4e9;
    CHECK(play(cluster, {{0, 0}, {1, Place::host}}, one_message(1000, true)).ends[1] ==
          about(copy_s + on_wires_s + 1000 / 50e9));
    CHECK(play(cluster, {{0, Place::host}, {1, 0}}, one_message(1000, true)).ends[1] ==
          about(on_wires_s + copy_s + 1000 / 50e9 + 17e-6));
}

TEST_CASE("transport: a whole buffer is copied out by contributing members and in by receiving members", "[memory]") {
    Cluster cluster = star();
    cluster.transport.staging = {Staging::Unit::collective, 2e9, 11e-6};
    const std::uint64_t buffer = 1 << 20;
    const double copy_s = 11e-6 + static_cast<double>(buffer) / 2e9;
    const double on_wires_s = 1000 / bandwidth + alpha;
    // 0 sends to 1, which sends to 2: a broadcast, then a reduction, then all of them at once.
    const std::vector<Message> none;
    const auto chain = [&](bool reduce) {
        return std::vector<std::vector<Step>>{{step({{1, 0, 1000}}, none)},
                                              {step(none, {{0, 0, 1000}}, reduce), step({{2, 0, 1000}}, none)},
                                              {step(none, {{1, 0, 1000}}, reduce)}};
    };
    const double gamma_s = 1000 / 50e9;
    const auto spread = play(cluster, nodes(3), chain(false), buffer).ends;
    CHECK(spread[0] == about(copy_s + on_wires_s));
    CHECK(spread[1] == about(copy_s + 2 * on_wires_s + copy_s));
    CHECK(spread[2] == about(copy_s + 2 * on_wires_s + copy_s));
    const auto summed = play(cluster, nodes(3), chain(true), buffer).ends;
    CHECK(summed[0] == about(copy_s + on_wires_s));
    CHECK(summed[2] == about(copy_s + 2 * (on_wires_s + gamma_s) + copy_s));
    const std::vector<std::vector<Step>> swap{{step({{1, 0, 1000}}, {{1, 0, 1000}}, true)},
                                              {step({{0, 0, 1000}}, {{0, 0, 1000}}, true)}};
    for (const double end : play(cluster, nodes(2), swap, buffer).ends)
        CHECK(end == about(copy_s + on_wires_s + gamma_s + copy_s));
}

TEST_CASE("transport: a member that does nothing pays nothing", "[memory]") {
    Cluster cluster = star();
    cluster.transport.launch_s = 1;
    cluster.transport.staging = {Staging::Unit::collective, {}, 1};
    CHECK(play(cluster, nodes(3), {{}, {}, {}}).ends == std::vector<double>{0, 0, 0});
}

TEST_CASE("transport: a connection's limit is a cap on its share, so that slow connections fill a link together",
          "[memory]") {
    Cluster cluster = star();
    const std::uint32_t bytes = 1000000;
    const auto two_senders = [&] {
        return play(cluster, nodes(3),
                    {{step({{2, 0, bytes}}, {})},
                     {step({{2, 0, bytes}}, {})},
                     {step({}, {{0, 0, bytes}, {1, 0, bytes}})}})
            .ends;
    };
    for (const auto& [limit, share] : {std::pair{0.25, 0.25}, {0.5, 0.5}, {0.75, 0.5}, {2.0, 0.5}}) {
        CAPTURE(limit);
        cluster.transport.between.bandwidth = {{1, limit * bandwidth}};
        for (const double end : two_senders()) CHECK(end == about(bytes / (share * bandwidth) + alpha));
    }
    // A fast connection gets the rest that a slow one leaves: by size, 0.25 and the rest.
    cluster.transport.between.bandwidth = {{1e6, 0.25 * bandwidth}, {3e6, 10 * bandwidth}};
    cluster.transport.between.bandwidth.back().bandwidth_Bps = 0.75 * bandwidth;
    const auto ends = play(cluster, nodes(3),
                           {{step({{2, 0, 1000000}}, {})},
                            {step({{2, 0, 3000000}}, {})},
                            {step({}, {{0, 0, 1000000}, {1, 0, 3000000}})}},
                           3000000)
                          .ends;
    CHECK(ends[0] == about(1e6 / (0.25 * bandwidth) + alpha));
    CHECK(ends[1] == about(3e6 / (0.75 * bandwidth) + alpha));
}

TEST_CASE("transport: a message gets the bandwidth of its size, or that of its links", "[memory]") {
    Cluster cluster = star();
    cluster.transport.between.bandwidth = {{1000, 1e7}, {100000, 5e8}, {1e6, 4e9}};
    for (const std::uint32_t bytes : {0u, 1u, 999u, 1000u, 5000u, 100000u, 300000u, 1000000u}) {
        CAPTURE(bytes);
        const double limit = cluster.transport.between.limit_Bps(bytes);
        CHECK(play(cluster, nodes(2), one_message(bytes)).ends[1] == about(bytes / std::min(limit, bandwidth) + alpha));
    }
    // If bytes take no time, the limit adds none.
    cluster.network = NetworkModel::Constant;
    CHECK(play(cluster, nodes(2), one_message(1000)).ends[1] == about(alpha));
}

TEST_CASE("transport: overheads of several messages add up on their sender and on their receiver", "[memory]") {
    Cluster cluster = star();
    cluster.transport.between = {10e-6, 20e-6, 0, {}};
    for (const std::uint32_t peers : {1u, 2u, 5u}) {
        CAPTURE(peers);
        // Messages of no bytes leave 10, 20, ... us after the start.
        std::vector<std::vector<Step>> scatter(peers + 1), gather(peers + 1);
        std::vector<Message> all;
        for (std::uint32_t peer = 1; peer <= peers; ++peer) {
            all.push_back({peer, 0, 0});
            scatter[peer] = {step({}, {{0, 0, 0}})};
            gather[peer] = {step({{0, 0, 0}}, {})};
        }
        scatter[0] = {step(all, {})};
        gather[0] = {step({}, all)};
        const auto scattered = play(cluster, nodes(peers + 1), scatter).ends;
        for (std::uint32_t peer = 1; peer <= peers; ++peer)
            CHECK(scattered[peer] == about(peer * 10e-6 + alpha + 20e-6));
        CHECK(play(cluster, nodes(peers + 1), gather).ends[0] == about(10e-6 + alpha + peers * 20e-6));
    }
}

TEST_CASE("transport: a receiver that is busy sending lets messages in", "[memory]") {
    Cluster cluster = star();
    cluster.transport.between.send_overhead_s = 1e-3;
    // 1 is busy for 1 ms before its own message leaves; 0's message arrives long before.
    const auto ends = play(cluster, {{0, Place::host}, {1, 0}, {2, 0}},
                           {{step({{1, 0, 1000}}, {}), step({}, {{2, 0, 0}})},
                            {step({{2, 0, 0}, {2, 0, 0}}, {{0, 0, 1000}})},
                            {step({{0, 0, 0}}, {{1, 0, 0}, {1, 0, 0}})}})
                          .ends;
    CHECK(ends[1] == about(2e-3 + alpha));
}

TEST_CASE("transport: a window limits the messages of a step in flight, but not received ones", "[memory]") {
    Cluster cluster = star();
    const double each_s = 1000000 / bandwidth;
    for (const std::int64_t window : {0, 1, 2, 3, 9}) {
        for (const std::uint32_t peers : {1u, 2u, 5u, 7u}) {
            CAPTURE(window, peers);
            cluster.transport.window = window;
            std::vector<std::vector<Step>> scatter(peers + 1), gather(peers + 1);
            std::vector<Message> all;
            for (std::uint32_t peer = 1; peer <= peers; ++peer) {
                all.push_back({peer, 0, 1000000});
                scatter[peer] = {step({}, {{0, 0, 1000000}})};
                gather[peer] = {step({{0, 0, 1000000}}, {})};
            }
            scatter[0] = {step(all, {})};
            gather[0] = {step({}, all)};
            const auto scattered = play(cluster, nodes(peers + 1), scatter).ends;
            const auto at_once = window == 0 ? peers : static_cast<std::uint32_t>(window);
            for (std::uint32_t peer = 1; peer <= peers; ++peer) {
                // Equal messages that share a link end together: window by window.
                const std::uint32_t through = std::min(peers, (peer - 1) / at_once * at_once + at_once);
                CHECK(scattered[peer] == about(through * each_s + alpha));
            }
            for (const double end : play(cluster, nodes(peers + 1), gather).ends)
                CHECK(end == about(peers * each_s + alpha));
        }
    }
}

TEST_CASE("transport: a window that causes a deadlock is reported as too small", "[memory]") {
    Cluster cluster = star();
    // 0's first message waits for 1's second step, which follows a message that 2 sends when 0's second message has
    // arrived.
    const std::vector<std::vector<Step>> steps{{step({{1, 0, 9}, {2, 0, 9}}, {})},
                                               {step({}, {{2, 0, 9}}), step({}, {{0, 0, 9}})},
                                               {step({}, {{0, 0, 9}}), step({{1, 0, 9}}, {})}};
    CHECK_NOTHROW(play(cluster, nodes(3), steps));
    cluster.transport.window = 2;
    CHECK_NOTHROW(play(cluster, nodes(3), steps));
    cluster.transport.window = 1;
    std::string said;
    try {
        play(cluster, nodes(3), steps);
    } catch (const ReplayError& error) {
        said = error.what();
    }
    CHECK(said.find("window") != std::string::npos);
}

TEST_CASE("transport: a node's limit on total traffic is shared by its devices, and appears among the links",
          "[memory]") {
    Cluster cluster = star();
    cluster.node.devices = 2;
    cluster.node.nics = 2;
    cluster.node.link = {8e9, 0};
    cluster.transport.host_Bps = 5e8;
    const std::uint32_t bytes = 1000000;
    // Both devices of node 0 send, each over its own port.
    const auto apart = play(cluster, {{0, 0}, {0, 1}, {1, 0}, {2, 0}},
                            {{step({{2, 0, bytes}}, {})},
                             {step({{3, 0, bytes}}, {})},
                             {step({}, {{0, 0, bytes}})},
                             {step({}, {{1, 0, bytes}})}});
    for (const double end : apart.ends) CHECK(end == about(2 * bytes / 5e8 + alpha));
    std::uint64_t out = 0, in = 0;
    for (const LinkUse& link : apart.timeline.links) {
        if (link.name == "node-0/transport-out") out = link.bytes;
        if (link.name == "node-1/transport-in") in = link.bytes;
        if (link.name.find("transport") != std::string::npos) CHECK(link.bandwidth_Bps == 5e8);
    }
    CHECK(out == 2 * bytes);
    CHECK(in == bytes);
    // Messages within the node do not count.
    CHECK(play(cluster, {{0, 0}, {0, 1}}, one_message(bytes)).ends[1] == about(bytes / 8e9));
}

TEST_CASE("transport: a protocol's launch and latencies replace the transport's, and wires carry more than the data",
          "[memory]") {
    Cluster cluster = star();
    cluster.node.devices = 2;
    cluster.node.link = {8e9, 1e-6};
    cluster.transport.launch_s = 1e-6;
    cluster.transport.between.latency_s = 2e-6;
    const Protocol protocol{"LL", 5e-6, 3e-6, 4e-6, 0.5, 0.5};
    const std::uint32_t bytes = 1000;
    const Played between = play(cluster, {{0, 0}, {1, 0}}, one_message(bytes), 1 << 20, protocol);
    for (const double end : between.ends) CHECK(end == about(5e-6 + 2 * bytes / bandwidth + alpha + 4e-6));
    CHECK(between.timeline.bytes_sent == bytes);
    CHECK(between.timeline.sent_by[0] == bytes);
    CHECK(between.timeline.received_by[1] == bytes);
    for (const LinkUse& link : between.timeline.links) CHECK(link.bytes == 2 * bytes);
    CHECK(between.timeline.links.size() == 2);
    const Played inside = play(cluster, {{0, 0}, {0, 1}}, one_message(bytes), 1 << 20, protocol);
    CHECK(inside.ends[1] == about(5e-6 + 2 * bytes / 8e9 + 2 * 1e-6 + 3e-6));
}

TEST_CASE("transport: SimGrid's own network models get the transport's terms in addition to theirs", "[memory]") {
    for (const NetworkModel model : {NetworkModel::CM02, NetworkModel::LV08}) {
        Cluster cluster = star();
        cluster.network = model;
        const double bare_s = play(cluster, nodes(2), one_message(1000000)).ends[1];
        cluster.transport.between = {3e-6, 5e-6, 7e-6, {}};
        CHECK(play(cluster, nodes(2), one_message(1000000)).ends[1] == Approx(bare_s + 15e-6).epsilon(1e-9));
    }
}

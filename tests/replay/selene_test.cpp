#include <string>
#include <vector>

#include "sim/config/file_kinds.hpp"
#include "sim/document/document.hpp"
#include "sim/document/reader.hpp"
#include "tests/catch.hpp"
#include "tests/replay/messages.hpp"

// Compares the shipped platform of Megatron-LM's scaling study with its sources.

using namespace syncline;

namespace {

constexpr double us = 1e-6, ms = 1e-3;
constexpr std::uint64_t MB = 1'000'000;

Cluster selene(std::int64_t nodes) {
    config::Library library;
    config::Node node = library.load_argument(SYNCLINE_SOURCE_DIR "/platforms/selene.yaml");
    library.expand(*node.find("device"));
    // The wires alone, without the transport.
    std::erase_if(node.entries, [](const config::Entry& entry) { return entry.key == "transport"; });
    Cluster cluster;
    std::vector<Diagnostic> errors;
    config::read(
        node, "platform", [&](config::Fields& fields) { describe(fields, cluster); }, errors);
    if (!errors.empty()) throw ConfigError(errors);
    CHECK(cluster.nodes == 0);  // as many as are needed
    cluster.nodes = nodes;
    return cluster;
}

/// Rank r on device r mod 8 of node r div 8.
std::vector<Place> packed(std::int64_t nodes) {
    std::vector<Place> places;
    for (std::uint32_t rank = 0; rank < nodes * 8; ++rank) places.push_back({rank / 8, rank % 8});
    return places;
}

}  // namespace

TEST_CASE("selene: its devices match NVIDIA's datasheet", "[memory]") {
    const Device device = selene(1).device;
    CHECK(device.flops_per_s == Approx(312e12));  // bf16, dense
    CHECK(device.memory_Bps == Approx(2039e9));
    CHECK(device.reduction_Bps == Approx(2039e9 / 3).epsilon(1e-3));  // two reads, one write
}

TEST_CASE(
    "selene: bandwidth is 300 GB/s in a node, 25 GB/s at each port, and all ports of a scalable unit work "
    "concurrently",
    "[memory]") {
    const Cluster cluster = selene(21);
    const std::vector<Place> places = packed(21);
    check_at_once(cluster, places, {{{0, 7, 300 * MB}, 1 * ms}});
    // The same rail is one switch away, and so is another, over the node's links (PXN); another unit three. A cable has
    // 1 us.
    check_at_once(cluster, places, {{{0, 8, 25 * MB}, 2 * us + 1 * ms}});
    check_at_once(cluster, places, {{{0, 9, 25 * MB}, 2 * us + 1 * ms}});
    check_at_once(cluster, places, {{{0, 160, 25 * MB}, 4 * us + 1 * ms}});
    // Each device has a port of its own, and all eight of a node send to the other unit concurrently.
    std::vector<Expected> messages;
    for (std::uint32_t device = 0; device < 8; ++device)
        messages.push_back({{device, 160 + device, 25 * MB}, 4 * us + 1 * ms});
    check_at_once(cluster, places, messages);
}

TEST_CASE("selene: nothing is oversubscribed between scalable units", "[memory]") {
    std::vector<Expected> messages;
    for (std::uint32_t rank = 0; rank < 160; ++rank) messages.push_back({{rank, 160 + rank, 25 * MB}, 4 * us + 1 * ms});
    check_at_once(selene(40), packed(40), messages);
}

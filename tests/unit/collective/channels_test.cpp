#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "sim/collective/axis_rings.hpp"
#include "sim/collective/channels.hpp"
#include "sim/lowering/channel_orders.hpp"
#include "tests/catch.hpp"
#include "tests/unit/promises.hpp"

// Collectives in channels: what every member holds in the end, how much each carries, and the orders of the members.

using namespace syncline;

namespace {

std::vector<std::vector<std::uint32_t>> drawn_orders(std::uint32_t channels, std::uint32_t ranks) {
    std::mt19937 random(channels * 1000 + ranks);
    std::vector<std::vector<std::uint32_t>> orders(channels, std::vector<std::uint32_t>(ranks));
    for (auto& order : orders) {
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin(), order.end(), random);
    }
    return orders;
}

/// Runs all lanes; the blocks of a channel are those of its order. Returns what is wrong in the end.
std::string broken_channels(const CollectiveAlgorithm& algorithm, const std::string& operation, std::uint32_t ranks,
                            std::uint64_t bytes) {
    Machine machine(algorithm, ranks, bytes);
    const std::uint32_t channels = algorithm.slices();
    const auto each = [&](auto&& act) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            for (std::uint32_t channel = 0; channel < channels; ++channel) {
                const std::span<const std::uint32_t> order = algorithm.order(channel);
                Buffer& buffer = machine.buffers[rank * channels + channel];
                for (std::uint32_t block = 0; block < buffer.size(); ++block)
                    act(rank, channel, block, order.empty() || buffer.size() != ranks ? block : order[block],
                        buffer[block]);
            }
    };
    each([&](std::uint32_t rank, std::uint32_t, std::uint32_t, std::uint32_t owner, Contributions& held) {
        held = operation != "allgather" || owner == rank ? promises::only(rank, ranks) : Contributions(ranks, 0);
    });
    if (!machine.run()) return "stuck, or a message is left over";
    const Contributions all(ranks, 1);
    std::string wrong;
    each([&](std::uint32_t rank, std::uint32_t channel, std::uint32_t block, std::uint32_t owner, Contributions& held) {
        if (operation == "reduce-scatter" && owner != rank) return;
        if (held != (operation == "allgather" ? promises::only(owner, ranks) : all))
            wrong = fmt::format("rank {}, channel {}, block {}", rank, channel, block);
    });
    return wrong;
}

}  // namespace

TEST_CASE("channels: every member holds what the operation promises in every channel", "[memory]") {
    const std::vector<std::pair<std::string, std::string>> kinds{{"allreduce", "ring"},
                                                                 {"allreduce", "segmented-ring"},
                                                                 {"allreduce", "double-binary-tree"},
                                                                 {"reduce-scatter", "ring"},
                                                                 {"allgather", "ring"}};
    for (const auto& [operation, name] : kinds) {
        for (const std::uint32_t ranks : {1u, 2u, 3u, 5u, 8u, 13u}) {
            for (const std::uint32_t channels : {1u, 2u, 3u, 8u}) {
                const AlgorithmSpec spec{.operation = operation, .name = name, .overlay = {}};
                const auto algorithm = in_channels(make_algorithm(spec, ranks), drawn_orders(channels, ranks));
                REQUIRE(takes_channels(spec));
                CHECK(algorithm->lanes() == channels);
                for (const std::uint64_t bytes : buffer_sizes(ranks)) {
                    CAPTURE(operation, name, ranks, channels, bytes);
                    CHECK(broken_channels(*algorithm, operation, ranks, bytes) == "");
                    std::uint64_t end = 0, sent = 0;
                    for (std::uint32_t lane = 0; lane < channels; ++lane) {
                        // The lanes' parts cover the buffer one after the other.
                        const Program program = algorithm->lane_program(lane, 0, ranks, bytes, 0);
                        CHECK(program.offset == end);
                        end += program.partition.bytes;
                        for (std::uint32_t rank = 0; rank < ranks; ++rank)
                            sent += messages_sent(algorithm->lane_program(lane, rank, ranks, bytes, 0));
                    }
                    CHECK(end == bytes);
                    std::uint64_t counted = 0;
                    for (std::uint32_t rank = 0; rank < ranks; ++rank)
                        counted += messages_sent(*algorithm, rank, ranks, bytes, 0);
                    CHECK(counted == sent);
                }
            }
        }
    }
}

TEST_CASE("channels: rings along the axes of a grid give every member what the operation promises", "[memory]") {
    for (const std::vector<std::uint32_t>& sizes :
         {std::vector<std::uint32_t>{}, {2}, {5}, {2, 2}, {4, 4}, {3, 2}, {2, 3, 4}, {3, 3, 3}}) {
        std::uint32_t ranks = 1;
        for (const std::uint32_t size : sizes) ranks *= size;
        const bool both = std::ranges::any_of(sizes, [](std::uint32_t size) { return size > 2; });
        for (const char* operation : {"allreduce", "reduce-scatter", "allgather"}) {
            const auto algorithm = axis_rings(operation, {sizes, drawn_orders(1, ranks).front()});
            REQUIRE(grid_of(*algorithm) != nullptr);
            CHECK(algorithm->lanes() == std::max<std::size_t>(1, sizes.size() * (both ? 2 : 1)));
            for (const std::uint64_t bytes : buffer_sizes(ranks)) {
                CAPTURE(sizes, operation, bytes);
                CHECK(broken_channels(*algorithm, operation, ranks, bytes) == "");
            }
        }
    }
    CHECK(grid_of(*make_algorithm({}, 4)) == nullptr);
}

TEST_CASE("channels: on a torus a ring has one for each axis and direction", "[memory]") {
    Cluster cluster;
    cluster.nodes = 4 * 2 * 6;
    TopologySpec& torus = cluster.fabric.topology;
    torus.shape = Shape::torus;
    torus.dimensions = {4, 2, 6};
    torus.bandwidth_Bps = {1e9};
    torus.latency_s = {0};
    const auto number = [&](const std::vector<std::uint32_t>& nodes, std::int64_t requested, const char* name) {
        std::vector<Place> places;
        for (const std::uint32_t node : nodes) places.push_back({node, 0});
        ChannelOrders orders(cluster, places, requested);
        const AlgorithmSpec spec{.name = name, .overlay = {}};
        const auto algorithm = orders.make(spec, 8, name);
        CHECK(algorithm->lanes() == orders.count(spec, 8));
        const MemberGrid* const grid = grid_of(*algorithm);
        if (grid == nullptr) return std::vector<std::uint32_t>{algorithm->lanes()};
        CHECK(grid->channels() == algorithm->lanes());
        return grid->sizes;
    };
    std::vector<std::uint32_t> all(48);
    std::iota(all.begin(), all.end(), 0u);
    using Sizes = std::vector<std::uint32_t>;
    CHECK(number(all, automatic_channels, "ring") == Sizes{4, 2, 6});
    std::reverse(all.begin(), all.end());
    CHECK(number(all, automatic_channels, "ring") == Sizes{4, 2, 6});
    CHECK(number(all, 1, "ring") == Sizes{1});
    CHECK(number(all, automatic_channels, "double-binary-tree") == Sizes{1});
    // x and z of a box; x in steps of two; no grid; a single member.
    CHECK(number({0, 1, 8, 9, 16, 17}, automatic_channels, "ring") == Sizes{2, 3});
    CHECK(number({0, 2, 4, 6}, automatic_channels, "ring") == Sizes{2, 2});
    CHECK(number({0, 1, 4}, automatic_channels, "ring") == Sizes{1});
    CHECK(number({0, 5}, automatic_channels, "ring") == Sizes{1});
    CHECK(number({7}, automatic_channels, "ring") == Sizes{1});
    // Nodes of several devices are no points of a grid.
    cluster.node.devices = 2;
    cluster.node.link = {1e9, 0};
    CHECK(number({0, 1}, automatic_channels, "ring") == Sizes{1});
}

TEST_CASE("channels: the formula names their number, and there is none of an algorithm without a closed form",
          "[memory]") {
    const auto formula = [](const std::string& name, std::uint32_t channels) {
        return in_channels(make_algorithm({.name = name, .overlay = {}}, 4), drawn_orders(channels, 4))->formula(true);
    };
    CHECK(formula("ring", 1) == make_algorithm({}, 4)->formula(true));
    CHECK(formula("ring", 3) == make_algorithm({}, 4)->formula(true) + ", in 3 channels");
    CHECK(formula("nccl-tree", 1).empty());
    CHECK(formula("nccl-tree", 2).empty());
}

TEST_CASE("channels: each begins at a port of its own and messages between nodes are between equal ports", "[memory]") {
    for (const std::uint32_t nodes : {2u, 4u, 6u}) {
        for (const std::int64_t nics : {1, 2, 4, 8}) {
            Cluster cluster;
            cluster.nodes = nodes;
            cluster.node.devices = 8;
            cluster.node.nics = nics;
            std::vector<Place> places;
            for (std::uint32_t rank = 0; rank < 8 * nodes; ++rank) places.push_back({rank / 8, rank % 8});
            const ChannelOrders orders(cluster, places, automatic_channels);
            CAPTURE(nodes, nics);
            const std::uint32_t channels = orders.count(1 << 30);
            CHECK(channels == nics);
            // (node, port) out of which and into which a channel passes
            std::set<std::pair<std::uint32_t, std::uint32_t>> out, in;
            for (const std::vector<std::uint32_t>& order : orders.orders(channels)) {
                CHECK(std::set<std::uint32_t>(order.begin(), order.end()).size() == places.size());
                for (std::size_t i = 0; i < order.size(); ++i) {
                    const Place &from = places[order[i]], &to = places[order[(i + 1) % order.size()]];
                    if (from.node == to.node) continue;
                    CHECK(cluster.node.nic(from.device) == cluster.node.nic(to.device));
                    CHECK(out.emplace(from.node, cluster.node.nic(from.device)).second);
                    CHECK(in.emplace(to.node, cluster.node.nic(to.device)).second);
                }
            }
            CHECK(out.size() == nodes * static_cast<std::size_t>(nics));
        }
    }
}

TEST_CASE("channels: on the hybrid cube mesh of a DGX-1 every port carries one each way", "[memory]") {
    for (const std::uint32_t nodes : {2u, 4u}) {
        Cluster cluster;
        cluster.nodes = nodes;
        cluster.node.devices = 8;
        cluster.node.nics = 4;
        cluster.node.links = NodeLinks::mesh;
        for (const auto& [a, b] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1},
                                                                                       {0, 2},
                                                                                       {0, 3},
                                                                                       {1, 2},
                                                                                       {1, 3},
                                                                                       {2, 3},
                                                                                       {4, 5},
                                                                                       {4, 6},
                                                                                       {4, 7},
                                                                                       {5, 6},
                                                                                       {5, 7},
                                                                                       {6, 7},
                                                                                       {0, 4},
                                                                                       {1, 5},
                                                                                       {2, 6},
                                                                                       {3, 7}})
            cluster.node.pairs.push_back({a, b, 1});
        std::vector<Place> places;
        for (std::uint32_t rank = 0; rank < 8 * nodes; ++rank) places.push_back({rank / 8, rank % 8});
        const ChannelOrders orders(cluster, places, automatic_channels);
        CHECK(orders.count(1 << 30) == 4);
        std::multiset<std::pair<std::uint32_t, std::uint32_t>> out, in;
        for (const std::vector<std::uint32_t>& order : orders.orders(4)) {
            for (std::size_t i = 0; i < order.size(); ++i) {
                const Place &from = places[order[i]], &to = places[order[(i + 1) % order.size()]];
                if (from.node == to.node) continue;
                CHECK(cluster.node.nic(from.device) == cluster.node.nic(to.device));
                out.emplace(from.node, cluster.node.nic(from.device));
                in.emplace(to.node, cluster.node.nic(to.device));
            }
        }
        for (std::uint32_t node = 0; node < nodes; ++node)
            for (std::uint32_t port = 0; port < 4; ++port) {
                CAPTURE(nodes, node, port);
                CHECK(out.count({node, port}) == 1);
                CHECK(in.count({node, port}) == 1);
            }
    }
}

TEST_CASE("channels: a small buffer takes as many as have 32 KiB each", "[memory]") {
    Cluster cluster;
    cluster.nodes = 2;
    cluster.node.devices = cluster.node.nics = 8;
    std::vector<Place> places;
    for (std::uint32_t rank = 0; rank < 16; ++rank) places.push_back({rank / 8, rank % 8});
    const ChannelOrders automatic(cluster, places, automatic_channels);
    for (const std::uint64_t bytes : {0u, 4u, 32768u, 65535u, 65536u, 200'000u, 1u << 18, 1u << 30}) {
        CAPTURE(bytes);
        const std::uint32_t count = automatic.count(bytes);
        CHECK(count >= 1);
        CHECK(count <= 8);
        CHECK((count == 1 || bytes >= count * 32768ull));
        CHECK((count == 8 || bytes < (count + 1) * 32768ull));
    }
    CHECK(ChannelOrders(cluster, places, 3).count(4) == 3);
    // A native platform's ports are unknown, and a member that is alone needs none.
    CHECK(ChannelOrders(cluster, {{0, 0}}, automatic_channels).count(1 << 30) == 1);
}

namespace {

AlgorithmSpec in_segments(const std::vector<std::int64_t>& sizes, double segment_bytes) {
    AlgorithmSpec spec{.name = "hierarchical", .overlay = TopologySpec{}, .segment_bytes = segment_bytes};
    spec.overlay->shape = Shape::hierarchical;
    for (const std::int64_t size : sizes) {
        HierarchyLevel level;
        level.size = size;
        spec.overlay->levels.push_back(level);
    }
    return spec;
}

}  // namespace

TEST_CASE("hierarchical: in segments every rank holds the sum and sends what it sends without") {
    const std::vector<std::vector<std::int64_t>> shapes{{2, 3}, {4, 2}, {2, 2, 2}, {1, 4}, {3, 1}, {2, 1, 3}, {5, 4}};
    for (const std::vector<std::int64_t>& sizes : shapes) {
        std::uint32_t ranks = 1;
        for (const std::int64_t size : sizes) ranks *= static_cast<std::uint32_t>(size);
        const auto whole = make_algorithm(in_segments(sizes, 0), ranks);
        for (const double segment_bytes : {1.0, 7.0, 64.0, 1e6}) {
            for (const std::uint64_t bytes : buffer_sizes(ranks)) {
                const auto algorithm = make_algorithm(in_segments(sizes, segment_bytes), ranks);
                CAPTURE(ranks, sizes.size(), segment_bytes, bytes);
                CHECK(algorithm->lanes() == 2 * sizes.size() - 1);
                Machine machine(*algorithm, ranks, bytes), as_one(*whole, ranks, bytes);
                CHECK(broken(machine, {.operation = "allreduce", .ranks = ranks}) == "");
                REQUIRE(as_one.run());
                CHECK(machine.bytes_sent == as_one.bytes_sent);
            }
        }
    }
}

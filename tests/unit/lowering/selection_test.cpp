#include <cmath>

#include "sim/collective/selection.hpp"
#include "sim/lowering/chooser.hpp"
#include "sim/platform/cluster.hpp"
#include "tests/catch.hpp"

// The row that decides, and NCCL's predicted times, worked out by hand.

using namespace syncline;

namespace {

SelectionCondition below(double bytes) {
    SelectionCondition condition;
    condition.below_bytes = bytes;
    return condition;
}

SelectionRow row(SelectionCondition condition, const std::string& algorithm,
                 const std::string& operation = "allreduce") {
    return {condition, {{{.operation = operation, .name = algorithm}, {}}}};
}

bool any(const AlgorithmSpec&) {
    return true;
}

std::string chosen(const Selection& selection, std::uint64_t bytes, std::uint32_t ranks,
                   const std::string& operation = "allreduce") {
    const auto choice = choose(selection, operation, bytes, {.ranks = ranks, .nodes = ranks}, any);
    return choice ? choice->algorithm.name : "none";
}

}  // namespace

TEST_CASE("selection: the first row of the operation whose conditions are all true decides", "[memory]") {
    SelectionCondition small_powers = below(2049), few, many_even, small_blocks;
    small_powers.power_of_two = true;
    few.ranks_below = 4;
    many_even.ranks_from = 9;
    many_even.even_ranks = true;
    small_blocks.block_below_bytes = 10;
    const Selection selection{"mine",
                              {row(below(100), "never", "broadcast"), row(small_powers, "a"), row(few, "b"),
                               row(many_even, "c"), row(small_blocks, "d"), row({}, "e")}};
    CHECK(chosen(selection, 2048, 8) == "a");
    CHECK(chosen(selection, 2049, 8) == "e");
    CHECK(chosen(selection, 0, 1) == "a");  // one is a power of two
    CHECK(chosen(selection, 2048, 3) == "b");
    CHECK(chosen(selection, 5000, 2) == "b");
    CHECK(chosen(selection, 5000, 4) == "e");
    CHECK(chosen(selection, 5000, 10) == "c");
    CHECK(chosen(selection, 5000, 9) == "e");
    CHECK(chosen(selection, 5000, 8) == "e");
    CHECK(chosen(selection, 89, 9) == "d");  // 9.9 B a block
    CHECK(chosen(selection, 90, 9) == "e");
    CHECK(chosen(selection, 99, 9, "broadcast") == "never");
    CHECK(chosen(selection, 100, 9, "broadcast") == "none");
    CHECK(chosen(selection, 100, 9, "gather") == "none");
    CHECK(selection.covers("broadcast"));
    CHECK_FALSE(selection.covers("gather"));
}

TEST_CASE("selection: the result names the row that decided, and why", "[memory]") {
    const Selection selection{"mine", {row(below(2048), "a"), row({}, "b")}};
    const auto why = [&](std::uint64_t bytes) { return choose(selection, "allreduce", bytes, {.ranks = 4}, any)->why; };
    CHECK(why(4) == "row 1 of mine: below 2.048 kB");
    CHECK(why(4096) == "row 2 of mine: always");
}

TEST_CASE("selection: NCCL's ring takes base + (n-i)·inside + i·between + S·n/(f·B·N)", "[memory]") {
    const Protocol ll{"LL", 6.6e-6, 0.6e-6, 2.7e-6, 0.5, 0.5};
    // 16 ranks on 4 nodes: n = 30 steps, i = 6 of them between nodes: 6.6 + 24·0.6 + 6·2.7 = 37.2 us.
    const Terrain nodes{16, 4, 18e9, 12e9};
    CHECK(predicted_time_s("allreduce", "ring", ll, 0, nodes) == Approx(37.2e-6).epsilon(1e-12));
    // 1 MB at 12 GB/s · 0.5 · 16/30 = 3.2 GB/s: 312.5 us more.
    CHECK(predicted_time_s("allreduce", "ring", ll, 1'000'000, nodes) == Approx(349.7e-6).epsilon(1e-12));
    // One node of 8: 14 steps of 0.6 us, 18 GB/s · 0.5 · 8/14.
    const Terrain one{8, 1, 18e9, 1};
    CHECK(predicted_time_s("allreduce", "ring", ll, 36'000'000, one) == Approx(15e-6 + 7e-3).epsilon(1e-12));
    // An allgather has half the steps: 6.6 + 12·0.6 + 3·2.7 = 21.9 us and twice the bandwidth.
    CHECK(predicted_time_s("allgather", "ring", ll, 1'000'000, nodes) == Approx(21.9e-6 + 156.25e-6).epsilon(1e-12));
    CHECK(predicted_time_s("reduce-scatter", "ring", ll, 1'000'000, nodes) ==
          predicted_time_s("allgather", "ring", ll, 1'000'000, nodes));
}

TEST_CASE("selection: NCCL's tree takes base + 2((N/M-1)·inside + ⌊lg M⌋·between) + 2S/(f·B)", "[memory]") {
    const Protocol simple{"Simple", 8.4e-6, 4e-6, 14e-6, 0.92, 0.92};
    // 16 ranks on 4 nodes: 8.4 + 2·(3·4 + 2·14) = 88.4 us; 12 GB/s · 0.92 / 2 = 5.52 GB/s.
    const Terrain nodes{16, 4, 18e9, 12e9};
    CHECK(predicted_time_s("allreduce", "double-binary-tree", simple, 0, nodes) == Approx(88.4e-6).epsilon(1e-12));
    CHECK(predicted_time_s("allreduce", "double-binary-tree", simple, 5'520'000, nodes) ==
          Approx(1.0884e-3).epsilon(1e-12));
    // NCCL's integer division: 7 nodes have 2 levels, 15 ranks on them 2 each.
    CHECK(predicted_time_s("allreduce", "double-binary-tree", simple, 0, {15, 7, 18e9, 12e9}) ==
          Approx(72.4e-6).epsilon(1e-12));
    CHECK_FALSE(is_predictable("broadcast", "double-binary-tree"));
    CHECK_FALSE(is_predictable("allreduce", "rabenseifner"));
    CHECK_THROWS_AS(predicted_time_s("broadcast", "ring", simple, 0, nodes), std::logic_error);
}

TEST_CASE("selection: of several candidates the one with the shortest predicted time is used", "[memory]") {
    const Selection selection{"two",
                              {{{},
                                {{{.name = "ring"}, {"LL", 6.6e-6, 0.6e-6, 2.7e-6, 0.5}},
                                 {{.name = "ring"}, {"Simple", 8.4e-6, 3.4e-6, 14e-6, 1}}}}}};
    // 32 one-rank nodes at 12 GB/s, 62 steps: 6.6 + 62·2.7 = 174 us against 8.4 + 62·14 = 876.4 us; per byte
    // 62/(32·6e9) against half of it. They meet at 702.4e-6 / (62/(32·12e9)) = 4.3503 MB.
    const Terrain terrain{32, 32, 1, 12e9};
    CHECK(choose(selection, "allreduce", 4'350'000, terrain, any)->protocol.name == "LL");
    CHECK(choose(selection, "allreduce", 4'351'000, terrain, any)->protocol.name == "Simple");
    CHECK(choose(selection, "allreduce", 0, terrain, any)->why ==
          "row 1 of two: always; shortest predicted time of 2: ring/LL 174 us, ring/Simple 876.4 us");
    // Over all sizes the choice is always the faster one.
    for (std::uint64_t bytes = 1; bytes < (1ull << 40); bytes *= 3) {
        const Choice choice = *choose(selection, "allreduce", bytes, terrain, any);
        for (const Candidate& one : selection.rows[0].candidates)
            CHECK(predicted_time_s("allreduce", "ring", choice.protocol, bytes, terrain) <=
                  predicted_time_s("allreduce", "ring", one.protocol.of("allreduce", "ring", bytes, terrain), bytes,
                                   terrain));
    }
}

TEST_CASE("selection: rows may depend on the number of nodes, and candidates on what is possible", "[memory]") {
    SelectionCondition one_node, many;
    one_node.nodes_below = 2;
    many.nodes_from = 4;
    const Selection selection{"mine", {row(one_node, "a"), row(many, "b"), row({}, "c")}};
    const auto of = [&](std::uint32_t nodes, const Possible& possible) {
        return choose(selection, "allreduce", 8, {.ranks = 8, .nodes = nodes}, possible)->algorithm.name;
    };
    CHECK(of(1, any) == "a");
    CHECK(of(2, any) == "c");
    CHECK(of(4, any) == "b");
    CHECK(of(1, [](const AlgorithmSpec& spec) { return spec.name != "a"; }) == "c");
    CHECK(choose(selection, "allreduce", 8, {.ranks = 8}, any)->why == "row 1 of mine: one node");
    CHECK_FALSE(choose(selection, "allreduce", 8, {.ranks = 8}, [](const AlgorithmSpec&) { return false; }));
}

TEST_CASE("selection: a protocol's limits are shares of the links' time, and its copy is part of the launch",
          "[memory]") {
    const Terrain terrain{8, 1, 400e9, 1};
    ProtocolTerms terms{.name = "Simple", .launch_s = 10e-6, .copy_Bps = 1e12};
    const auto of = [&](std::uint64_t bytes, const char* algorithm = "ring") {
        return terms.of("allreduce", algorithm, bytes, terrain);
    };
    // An eighth of 8 MB at 1 TB/s.
    CHECK(of(8'000'000).launch_s == Approx(11e-6).epsilon(1e-12));
    CHECK(of(8'000'000).inside_factor == 1);
    terms.inside_Bps = 100e9;
    CHECK(of(0).inside_factor == Approx(0.25));
    CHECK(of(0).between_factor == 1);
    terms.bandwidth_factor = 0.2;  // flags take more than the limit
    CHECK(of(0).inside_factor == Approx(0.2));
    // With one rank, or where links are unknown, there is nothing to share.
    CHECK(terms.of("allreduce", "ring", 8, {}).inside_factor == Approx(0.2));

    // NVLS on eight: 9/8 of 16 MiB at 100 GB/s, and one round of 16 channels · 8 heads · 16 KiB for each 2 MiB.
    terms = {.name = "NVLS", .inside_Bps = 100e9, .chunk_latency_s = 3e-6, .channels = 16};
    const double bytes = 16 << 20, load_s = bytes * 9 / 8 / 100e9;
    const Protocol nvls = of(16 << 20, "in-network");
    CHECK(bytes * 9 / 8 / 400e9 / nvls.inside_factor == Approx(load_s + 8 * 3e-6).epsilon(1e-12));
    CHECK(predicted_time_s("allreduce", "in-network", nvls, 16 << 20, terrain) ==
          Approx(load_s + 24e-6).epsilon(1e-12));
    // A ring has no such rounds.
    CHECK(of(16 << 20).inside_factor == Approx(0.25));
}

TEST_CASE("selection: NCCL's PAT takes launch + ⌊lg M⌋·between + S/B, where each node has one rank", "[memory]") {
    const ProtocolTerms terms{.name = "Simple",
                              .launch_s = 8e-6,
                              .between_latency_s = 4e-6,
                              .bandwidth_factor = 0.75,
                              .launch_per_rank_s = 2.8e-6};
    // 8 + 16·2.8 + 4·4 = 68.8 us; 9 MB at 12 · 0.75 = 9 GB/s.
    const Terrain nodes{16, 16, 1, 12e9};
    for (const char* operation : {"allgather", "reduce-scatter"}) {
        const Protocol protocol = terms.of(operation, "pat", 9'000'000, nodes);
        CHECK(protocol.launch_s == Approx(52.8e-6).epsilon(1e-12));
        CHECK(predicted_time_s(operation, "pat", protocol, 9'000'000, nodes) == Approx(1.0688e-3).epsilon(1e-12));
    }
    CHECK_FALSE(is_predictable("allreduce", "pat"));

    SelectionCondition alone;
    alone.node_ranks_below = 2;
    const Selection selection{"mine", {row(alone, "a"), row({}, "b")}};
    const auto of = [&](std::uint32_t ranks) {
        return choose(selection, "allreduce", 8, {.ranks = ranks, .nodes = 4}, any)->algorithm.name;
    };
    CHECK(of(4) == "a");
    CHECK(of(5) == "b");  // some node has two
    CHECK(choose(selection, "allreduce", 8, {.ranks = 4, .nodes = 4}, any)->why ==
          "row 1 of mine: one rank on each node");
}

TEST_CASE("selection: in-network and all-to-all have predictions", "[memory]") {
    const Protocol tree{"NVLSTree", 1e-6, 25e-6, 20e-6, 1, 1};
    // Eight nodes of 8: 1 + 25 + 2·3·20 us; twice 8 MB over 8 ports of 50 GB/s, or 9/8 of it at 400 GB/s inside.
    const Terrain eight{64, 8, 400e9, 400e9};
    CHECK(predicted_time_s("allreduce", "in-network", tree, 8'000'000, eight) == Approx(146e-6 + 40e-6).epsilon(1e-12));
    // Two nodes: ports carry it once, so the links inside decide.
    const Terrain two{16, 2, 400e9, 400e9};
    CHECK(predicted_time_s("allreduce", "in-network", tree, 8'000'000, two) == Approx(66e-6 + 22.5e-6).epsilon(1e-12));
    // An all-to-all sends 7 of 64 parts inside a node and 56 by the port of each rank, 50 GB/s.
    CHECK(predicted_time_s("all-to-all", "direct", tree, 64'000'000, eight) ==
          Approx(1e-6 + 20e-6 + 56e6 / 50e9).epsilon(1e-12));
    CHECK(predicted_time_s("all-to-all", "direct", tree, 8'000'000, {8, 1, 400e9, 1}) ==
          Approx(1e-6 + 25e-6 + 7e6 / 400e9).epsilon(1e-12));
}

TEST_CASE("selection: a group's terrain is its ranks, its nodes and the narrowest links of each kind", "[memory]") {
    Cluster cluster = star_cluster(4, 12e9, 1e-6);
    cluster.node.devices = 2;
    cluster.node.link = {18e9, 1e-6};
    const Terrain both = terrain_of(cluster, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}});
    CHECK(both.ranks == 5);
    CHECK(both.nodes == 3);
    CHECK(both.inside_Bps == 18e9);
    CHECK(both.between_Bps == 12e9);
    const Terrain apart = terrain_of(cluster, {{0, 0}, {1, 0}, {2, 1}});
    CHECK(apart.nodes == 3);
    CHECK(std::isinf(apart.inside_Bps));
    CHECK(apart.between_Bps == 12e9);
    const Terrain single = terrain_of(cluster, {{3, 1}});
    CHECK(single.ranks == 1);
    CHECK(single.nodes == 1);
}

TEST_CASE("selection: between nodes the narrowest link that the ring over the ranks crosses counts", "[memory]") {
    Cluster cluster = star_cluster(8, 1, 0);
    TopologySpec& tree = cluster.fabric.topology;  // of 8 hosts: three levels of switches
    tree.shape = Shape::tree;
    tree.arity = 2;
    cluster.node.devices = 2;
    cluster.node.link = {18e9, 1e-6};
    const auto between_Bps = [&](std::vector<double> by_level, const std::vector<std::uint32_t>& nodes) {
        tree.bandwidth_Bps = std::move(by_level);
        tree.latency_s = {1e-6};
        std::vector<Place> places;
        for (const std::uint32_t node : nodes) places.push_back({node, 0});
        return terrain_of(cluster, places).between_Bps;
    };
    // Nodes 0 and 1 share a switch, 0 … 3 one above two, 0 … 7 all three levels.
    const std::vector<double> narrower{10e9, 6e9, 2e9}, wider{2e9, 6e9, 10e9};
    CHECK(between_Bps(narrower, {0, 1}) == 10e9);
    CHECK(between_Bps(narrower, {0, 1, 2}) == 6e9);
    CHECK(between_Bps(narrower, {0, 1, 2, 3, 4}) == 2e9);
    CHECK(between_Bps(narrower, {6, 7}) == 10e9);
    CHECK(between_Bps(narrower, {3, 4}) == 2e9);
    for (const std::vector<std::uint32_t>& nodes : {std::vector<std::uint32_t>{0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4}})
        CHECK(between_Bps(wider, nodes) == 2e9);
    // With packed and with alternating ranks, links inside nodes and between them are distinguished.
    tree.bandwidth_Bps = narrower;
    for (const std::vector<Place>& places :
         {std::vector<Place>{{0, 0}, {0, 1}, {2, 0}, {2, 1}}, {{0, 0}, {2, 0}, {0, 1}, {2, 1}}}) {
        const Terrain terrain = terrain_of(cluster, places);
        CHECK(terrain.inside_Bps == 18e9);
        CHECK(terrain.between_Bps == 6e9);
    }
}

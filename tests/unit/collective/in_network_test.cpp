#include "sim/collective/in_network.hpp"

#include "tests/catch.hpp"
#include "tests/unit/machine.hpp"

// In-network all-reduces: what ranks hold in the end, and what crosses each link.

using namespace syncline;

namespace {

/// Returns a tree in which every switch has `arity` switches below it, `levels` levels of them, and the lowest ones
/// have the ranks in turn.
SwitchTree tree_of(std::uint32_t ranks, std::uint32_t arity, std::uint32_t levels) {
    SwitchTree tree{{}, {0}, {0}};
    std::uint32_t first = 0, count = 1;
    for (std::uint32_t level = 1; level < levels; ++level) {
        for (std::uint32_t i = 0; i < count * arity; ++i) {
            tree.above_switch.push_back(first + i / arity);
            tree.vertices.push_back(tree.switches());
        }
        first += count;
        count *= arity;
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) tree.above_rank.push_back(first + rank % count);
    return tree;
}

}  // namespace

TEST_CASE("in-network: every rank gets the sum of all and sends its buffer once") {
    for (const std::uint32_t levels : {1u, 2u, 3u}) {
        for (const std::uint32_t ranks : {4u, 5u, 9u, 17u}) {
            for (const std::uint64_t bytes : {0u, 1u, 7u, 100u, 1001u}) {
                for (const double segment : {1.0, 10.0, 0.0}) {
                    CAPTURE(levels, ranks, bytes, segment);
                    const SwitchTree tree = tree_of(ranks, 2, levels);
                    const InNetwork algorithm(tree, segment);
                    Machine machine(algorithm, algorithm.members(), bytes);
                    for (std::uint32_t member = ranks; member < algorithm.members(); ++member) {
                        for (Contributions& block : machine.buffers[member]) block.assign(block.size(), 0);
                    }
                    REQUIRE(machine.run());
                    Contributions sum(algorithm.members(), 0);
                    std::fill_n(sum.begin(), ranks, 1);
                    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                        for (const Contributions& block : machine.buffers[algorithm.rank_below(rank)])
                            CHECK(block == sum);
                        CHECK(machine.bytes_sent_by[rank] == bytes);
                        CHECK(machine.bytes_received[algorithm.rank_below(rank)] == bytes);
                    }
                    // Each cable of the tree carries the buffer once in each direction.
                    CHECK(machine.bytes_sent == 2 * (ranks + tree.switches() - 1) * bytes);
                }
            }
        }
    }
}

TEST_CASE("in-network: one rank does nothing and a single switch has a closed form", "[memory]") {
    const InNetwork one(SwitchTree{{0}, {0}, {0}}, 0);
    CHECK(one.program(0, 1, 100, 0).steps.empty());
    CHECK(one.cost(1, 100, {1, 1, 0, true}) == 0);
    const InNetwork star(SwitchTree{{0, 0, 0}, {0}, {0}}, 25);
    const MessageCost travelling{2e-6, 1e-9, 0, true}, blocking{2e-6, 1e-9, 0, false};
    // Four segments of 25 bytes: up, and down one segment later.
    CHECK(*star.cost(3, 100, travelling) == Approx(2e-6 + 5 * 25e-9));
    CHECK(*star.cost(3, 100, blocking) == Approx(5 * (1e-6 + 25e-9)));
    CHECK_FALSE(star.cost(3, 101, travelling));
    // The default segment is NVLS's chunk of 128 KiB.
    const InNetwork chunks(SwitchTree{{0, 0, 0}, {0}, {0}}, 0);
    CHECK(chunks.program(0, 7, 1 << 20, 0).partition.blocks == 8);
    const std::shared_ptr<const CollectiveAlgorithm> made =
        make_algorithm({.name = "in-network", .segment_bytes = 25}, 3);
    CHECK(*made->cost(3, 100, travelling) == *star.cost(3, 100, travelling));
    CHECK_THROWS_AS(make_algorithm({.name = "in-network", .contributors = 2}, 3), AlgorithmError);
}

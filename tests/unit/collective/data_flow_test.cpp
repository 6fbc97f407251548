#include "sim/collective/data_flow.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "sim/collective/channels.hpp"
#include "sim/collective/in_network.hpp"
#include "sim/collective/parameter_server.hpp"
#include "sim/collective/ring.hpp"
#include "tests/catch.hpp"
#include "tests/unit/machine.hpp"

// Whose data is in the messages of collectives: closed forms of the algorithms, and for all of them what the machine of
// promises.hpp holds in the end.

using namespace syncline;

namespace {

const std::vector<std::uint32_t> some_groups{1, 2, 3, 5, 8, 13, 16, 24, 33};

std::shared_ptr<const CollectiveAlgorithm> algorithm(const std::string& operation, const std::string& name,
                                                     std::uint32_t ranks) {
    AlgorithmSpec spec{.operation = operation, .name = name};
    if (name.starts_with("hierarchical")) {
        // Pairs where there are any, for the level above.
        TopologySpec pairs;
        pairs.shape = Shape::hierarchical;
        pairs.levels = {{Shape::star, 0}};
        if (ranks % 2 == 0) pairs.levels.insert(pairs.levels.begin(), {Shape::star, 2});
        spec.overlay = pairs;
    }
    return make_algorithm(spec, ranks);
}

/// Counts the messages of an algorithm by their programs.
std::uint64_t messages_of(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes) {
    std::uint64_t messages = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) messages += messages_sent(algorithm, rank, ranks, bytes, 0);
    return messages;
}

}  // namespace

TEST_CASE("data flow: in step k of a ring each rank sends block rank-k with k+1 contributions, then all of them",
          "[memory]") {
    for (const std::uint32_t n : some_groups) {
        for (const std::uint64_t bytes :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{n} * 10, std::uint64_t{1001}}) {
            CAPTURE(n, bytes);
            const DataFlow flow = data_flow(RingAllreduce(), n, bytes, 0);
            REQUIRE(flow.messages.size() == 2 * n * (n - 1));
            CHECK(flow.steps == 2 * (n - 1));
            CHECK(flow.blocks == n);
            std::vector<std::uint32_t> next(n, 0);
            for (const FlowMessage& message : flow.messages) {
                const std::uint32_t k = next[message.from]++;
                CHECK(message.to == (message.from + 1) % n);
                CHECK(message.step == k);
                CHECK(message.blocks.block == (message.from + 2 * n - k) % n);
                CHECK(message.blocks.count == 1);
                CHECK(message.contributions == std::min(k + 1, n));
                CHECK(message.adds == (k < n - 1));
            }
        }
    }
}

TEST_CASE("data flow: recursive doubling and Rabenseifner's algorithm double the contributions in each step") {
    for (const std::uint32_t n : {2u, 4u, 8u, 16u, 32u}) {
        CAPTURE(n);
        const auto lg = static_cast<std::uint32_t>(std::bit_width(n)) - 1;
        const DataFlow doubling = data_flow(*algorithm("allreduce", "recursive-doubling", n), n, 64, 0);
        CHECK(doubling.messages.size() == n * lg);
        for (const FlowMessage& message : doubling.messages) {
            CHECK(message.to == (message.from ^ 1u << message.step));
            CHECK(message.contributions == 1u << message.step);
            CHECK(message.adds);
        }
        const DataFlow flow = data_flow(*algorithm("allreduce", "rabenseifner", n), n, 640, 0);
        CHECK(flow.blocks == n);
        CHECK(flow.messages.size() == 2 * n * lg);
        for (const FlowMessage& message : flow.messages) {
            const bool halves = message.step < lg;
            CHECK(message.adds == halves);
            CHECK(message.contributions == (halves ? 1u << message.step : n));
            CHECK(message.blocks.count == (halves ? n >> (message.step + 1) : 1u << (message.step - lg)));
        }
        const DataFlow gathering = data_flow(*algorithm("allgather", "recursive-doubling", n), n, 640, 0);
        CHECK(gathering.messages.size() == n * lg);
        for (const FlowMessage& message : gathering.messages) CHECK(message.contributions == 1u << message.step);
    }
}

TEST_CASE("data flow: a binomial tree passes the sums of subtrees up, and the result down") {
    for (const std::uint32_t n : {1u, 2u, 3u, 5u, 8u, 13u, 16u}) {
        CAPTURE(n);
        const DataFlow flow = data_flow(*algorithm("allreduce", "binomial-tree", n), n, 7, 0);
        CHECK(flow.messages.size() == 2 * (n - 1));
        for (const FlowMessage& message : flow.messages) {
            // The subtree of rank r has the ranks from r on below r plus its lowest bit.
            const std::uint32_t lowest = message.from & (~message.from + 1);
            CHECK(message.contributions == (message.adds ? std::min(lowest, n - message.from) : n));
        }
    }
}

TEST_CASE("data flow: of double binary trees what is added is a part, and what replaces is the whole") {
    for (const std::uint32_t n : some_groups) {
        CAPTURE(n);
        const DataFlow flow = data_flow(*algorithm("allreduce", "double-binary-tree", n), n, 5'000'000, 0);
        // For each segment, every rank but the root sends one sum up and gets the result once.
        std::map<std::pair<std::uint32_t, std::uint32_t>, int> up, down;
        for (const FlowMessage& message : flow.messages) {
            CHECK((message.contributions == n) == !message.adds);
            ++(message.adds ? up[{message.from, message.blocks.block}] : down[{message.to, message.blocks.block}]);
        }
        const std::size_t each = std::size_t{n - 1} * flow.blocks;
        CHECK(up.size() == each);
        CHECK(down.size() == each);
        CHECK(flow.messages.size() == 2 * each);
    }
}

TEST_CASE("data flow: a hierarchical all-reduce adds up inside groups, then between them") {
    TopologySpec fours;
    fours.shape = Shape::hierarchical;
    fours.levels = {{Shape::star, 4}, {Shape::star, 0}};
    constexpr std::uint32_t inner = 4, outer = 3, n = inner * outer;
    const DataFlow flow = data_flow(*make_algorithm({.name = "hierarchical", .overlay = fours}, n), n, 1200, 0);
    CHECK(flow.steps == 2 * (inner - 1) + 2 * (outer - 1));
    for (const FlowMessage& message : flow.messages) {
        const bool inside = message.from / inner == message.to / inner;
        const std::uint32_t outer_step = message.step - (inner - 1);
        CAPTURE(message.from, message.to, message.step);
        CHECK(inside == (message.step < inner - 1 || outer_step >= 2 * (outer - 1)));
        CHECK(message.blocks.count == (inside ? outer : 1));
        if (message.step < inner - 1)
            CHECK(message.contributions == message.step + 1);
        else
            CHECK(message.contributions == (outer_step < outer - 1 ? inner * (outer_step + 1) : n));
    }
}

TEST_CASE("data flow: an all-to-all, a scatter and a broadcast carry one rank's data, a gather that of the blocks") {
    for (const std::uint32_t n : some_groups) {
        CAPTURE(n);
        for (const char* name : {"direct", "pairwise"}) {
            const DataFlow flow = data_flow(*algorithm("all-to-all", name, n), n, 1001, 0);
            CHECK(flow.messages.size() == n * (n - 1));
            for (const FlowMessage& message : flow.messages) {
                CHECK(message.contributions == 1);
                CHECK(message.blocks.block == message.to);
            }
        }
        for (const char* operation : {"scatter", "broadcast"})
            for (const FlowMessage& message : data_flow(*algorithm(operation, "binomial-tree", n), n, 1001, 0).messages)
                CHECK(message.contributions == 1);
        for (const FlowMessage& message : data_flow(*algorithm("gather", "binomial-tree", n), n, 1001, 0).messages)
            CHECK(message.contributions == message.blocks.count);
        for (const char* name : {"bruck", "pat"})
            for (const FlowMessage& message : data_flow(*algorithm("allgather", name, n), n, 1001, 0).messages) {
                std::uint32_t count = message.blocks.count;
                for (const Blocks& more : message.more) count += more.count;
                CHECK(message.contributions == count);
            }
    }
}

TEST_CASE("data flow: workers push their own data to a server, and pull that of all of them") {
    for (std::uint32_t workers = 1; workers < 9; ++workers) {
        CAPTURE(workers);
        const DataFlow push = data_flow(Push(), workers + 1, 1000, 0), pull = data_flow(Pull(), workers + 1, 1000, 0);
        CHECK(push.messages.size() == workers);
        CHECK(pull.messages.size() == workers);
        for (const FlowMessage& message : push.messages) {
            CHECK(message.contributions == 1);
            CHECK(message.adds);
        }
        for (const FlowMessage& message : pull.messages) {
            CHECK(message.contributions == workers);
            CHECK_FALSE(message.adds);
        }
    }
}

TEST_CASE("data flow: a switch that adds up has no data of its own") {
    // Four ranks below two switches, which are below a third.
    const InNetwork tree({{1, 1, 2, 2}, {0, 0, 0}, {0, 1, 2}, {}, false}, 0);
    const DataFlow flow = data_flow(tree, tree.members(), 1000, 0);
    CHECK(flow.messages.size() == 2 * (4 + 2));
    for (const FlowMessage& message : flow.messages) {
        const bool from_rank = message.from < 4, to_root = message.to == tree.upper(0);
        CHECK(message.contributions == (from_rank ? 1u : to_root ? 2u : 4u));
    }
}

TEST_CASE("data flow: in the end every member holds what the machine of promises holds", "[memory]") {
    for (const std::string& operation : operation_names()) {
        if (operation == "neighbour-exchange") continue;  // needs an overlay
        for (const std::string& name : algorithm_names(operation)) {
            for (const std::uint32_t n : some_groups) {
                for (const std::uint64_t bytes : {std::uint64_t{7}, std::uint64_t{n} * 10, std::uint64_t{1'000'001}}) {
                    CAPTURE(operation, name, n, bytes);
                    const auto of = algorithm(operation, name, n);
                    const DataFlow flow = data_flow(*of, n, bytes, 0);
                    CHECK(flow.messages.size() == messages_of(*of, n, bytes));
                    Machine machine(*of, n, bytes);
                    REQUIRE(machine.run());
                    REQUIRE(flow.ends_with.size() == n);
                    bool equal = true;
                    const std::uint32_t each = flow.blocks / flow.slices;
                    for (std::uint32_t i = 0; i < machine.buffers.size(); ++i)
                        for (std::uint32_t block = 0; block < machine.buffers[i].size(); ++block) {
                            const Contributions& held = machine.buffers[i][block];
                            const auto members = n - std::ranges::count(held, 0);
                            equal = equal && members == flow.ends_with[i / flow.slices][i % flow.slices * each + block];
                        }
                    CHECK(equal);
                    if (operation == "allreduce") {
                        bool complete = true;
                        for (const auto& member : flow.ends_with)
                            complete = complete && std::ranges::all_of(member, [n](auto one) { return one == n; });
                        CHECK(complete);
                    }
                }
            }
        }
    }
}

TEST_CASE("data flow: channels have blocks of their own, in the order of their members") {
    // Two rings of four ranks, one forwards and one backwards.
    const auto rings = in_channels(std::make_shared<const RingAllreduce>(), {{0, 1, 2, 3}, {3, 2, 1, 0}});
    const DataFlow flow = data_flow(*rings, 4, 800, 0);
    CHECK(flow.slices == 2);
    CHECK(flow.blocks == 8);
    for (const FlowMessage& message : flow.messages) {
        const std::uint32_t position = message.lane == 0 ? message.from : 3 - message.from;
        CHECK(message.to == (message.from + (message.lane == 0 ? 1 : 3)) % 4);
        CHECK(message.blocks.block == 4 * message.lane + (position + 8 - message.step) % 4);
    }
    CHECK(flow.sent(1, 0, 2).size() == 6);
    CHECK(flow.sent(1, 1, 0).size() == 6);
    CHECK(flow.sent(1, 1, 2).empty());
    CHECK(flow.sent(1, 1, 0)[5].contributions == 4);
}

TEST_CASE("data flow: of large groups and of messages without blocks only steps are known") {
    const DataFlow large = data_flow(RingAllreduce(), 257, 1000, 0);
    CHECK(large.blocks == 0);
    CHECK(large.ends_with.empty());
    CHECK(large.messages.size() == 2 * 257 * 256);
    CHECK(large.messages[3].step == 3);
    CHECK(large.messages[3].contributions == 0);
    CHECK(large.messages[3].adds);
    CHECK(data_flow(RingAllreduce(), 4, 1000, 0, 23).messages.empty());
    CHECK(data_flow(RingAllreduce(), 4, 1000, 0, 24).messages.size() == 24);

    class Sizes : public RingAllreduce, public WithoutBlocks {};
    const DataFlow sizes = data_flow(Sizes(), 4, 1000, 0);
    CHECK(sizes.blocks == 0);
    CHECK(sizes.steps == 6);
    CHECK(sizes.messages.size() == 24);
}

#include "sim/collective/algorithm.hpp"

#include <bit>
#include <set>

#include "tests/catch.hpp"
#include "tests/unit/group_sizes.hpp"
#include "tests/unit/machine.hpp"
#include "tests/unit/promises.hpp"

// Checks what every rank holds after each algorithm, the bytes in flight, and the time on a star.

using namespace syncline;

namespace {

TopologySpec overlay(Shape shape) {
    TopologySpec spec;
    spec.shape = shape;
    return spec;
}

TopologySpec tree(std::int64_t arity) {
    TopologySpec spec = overlay(Shape::tree);
    spec.arity = arity;
    return spec;
}

TopologySpec exponential(bool directed) {
    TopologySpec spec = overlay(Shape::exponential);
    spec.directed = directed;
    return spec;
}

TopologySpec hierarchy(std::vector<HierarchyLevel> levels) {
    TopologySpec spec = overlay(Shape::hierarchical);
    spec.levels = std::move(levels);
    return spec;
}

/// A path with a chord at every third vertex: neither regular nor symmetric, with odd and even cycles.
TopologySpec user_graph(std::uint32_t ranks) {
    TopologySpec spec = overlay(Shape::graph);
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
        spec.edges.push_back({std::to_string(rank - 1), std::to_string(rank), {}});
        if (rank >= 4 && rank % 3 == 0) spec.edges.push_back({std::to_string(rank - 4), std::to_string(rank), {}});
    }
    return spec;
}

/// Returns overlays of every undirected kind for this number of ranks.
std::vector<TopologySpec> undirected_overlays(std::uint32_t ranks) {
    std::vector<TopologySpec> specs{overlay(Shape::star), overlay(Shape::ring),     tree(2), tree(3), tree(7),
                                    exponential(false),   overlay(Shape::full_mesh)};
    if (std::has_single_bit(ranks)) specs.push_back(overlay(Shape::hypercube));
    if (ranks > 1) specs.push_back(user_graph(ranks));
    return specs;
}

void require_allreduce(Machine& machine, std::uint32_t ranks) {
    REQUIRE(machine.run());
    std::size_t wrong = 0;
    for (const Buffer& buffer : machine.buffers) {
        for (const Contributions& block : buffer) wrong += block != Contributions(ranks, 1);
    }
    CHECK(wrong == 0);
    std::uint64_t counted = 0;
    for (const Program& program : machine.programs) counted += messages_sent(program);
    CHECK(counted == machine.messages);
}

}  // namespace

TEST_CASE("recursive doubling reduces everything once, with lg N exchanges of the buffer and two more for extra ranks",
          "[memory]") {
    const auto algorithm = make_algorithm({.name = "recursive-doubling", .overlay = {}}, 1);
    for (const std::uint32_t n : group_sizes()) {
        const std::uint32_t places = std::bit_floor(n);
        const std::uint64_t messages =
            std::uint64_t{places} * static_cast<std::uint32_t>(std::bit_width(places) - 1) + 2 * (n - places);
        for (const std::uint64_t bytes : buffer_sizes(n)) {
            CAPTURE(n, bytes);
            Machine machine(*algorithm, n, bytes);
            require_allreduce(machine, n);
            CHECK(machine.messages == messages);
            CHECK(machine.bytes_sent == messages * bytes);
        }
        if (n <= 20) check_cost(*algorithm, n, 1001);
    }
}

TEST_CASE("a tree over any undirected overlay reduces everything once and moves 2(N-1)·S bytes") {
    for (const std::uint32_t n : group_sizes()) {
        for (const TopologySpec& spec : undirected_overlays(n)) {
            for (const double segment : {0.0, 1e6, 400.0, 77.0}) {
                const auto algorithm =
                    make_algorithm({.name = "pipelined-tree", .overlay = spec, .segment_bytes = segment}, n);
                for (const std::uint64_t bytes : buffer_sizes(n)) {
                    CAPTURE(n, bytes, shape_name(spec.shape), spec.arity, segment);
                    Machine machine(*algorithm, n, bytes);
                    require_allreduce(machine, n);
                    CHECK(machine.bytes_sent == 2 * (n - 1) * bytes);
                    const Partition& partition = machine.programs[0].partition;
                    if (segment > 0) CHECK(static_cast<double>(partition.largest()) <= segment);
                    CHECK(machine.messages == std::uint64_t{2} * (n - 1) * partition.blocks);
                }
            }
        }
    }
}

TEST_CASE("a split hierarchy reduces everything once and moves as much as a ring") {
    const std::vector<std::vector<std::int64_t>> hierarchies{{0},       {2, 0},    {3, 0},    {4, 0},      {1, 0},
                                                             {2, 2, 0}, {3, 2, 0}, {2, 4, 0}, {2, 3, 2, 0}};
    for (const std::uint32_t n : group_sizes()) {
        for (const std::vector<std::int64_t>& sizes : hierarchies) {
            std::vector<HierarchyLevel> levels;
            std::int64_t product = 1;
            for (const std::int64_t size : sizes) {
                levels.push_back({Shape::ring, size});
                product *= std::max<std::int64_t>(size, 1);
            }
            const AlgorithmSpec spec{.name = "hierarchical", .overlay = hierarchy(levels)};
            CAPTURE(n, sizes.size(), product);
            if (n > 1 && n % product != 0) {  // a single rank has nothing to split
                CHECK_THROWS_AS(make_algorithm(spec, n), AlgorithmError);
                continue;
            }
            const auto algorithm = make_algorithm(spec, n);
            for (const std::uint64_t bytes : buffer_sizes(n)) {
                CAPTURE(bytes);
                Machine machine(*algorithm, n, bytes);
                require_allreduce(machine, n);
                CHECK(machine.bytes_sent == 2 * (n - 1) * bytes);
            }
            if (n <= 18) {
                for (const std::uint64_t bytes : {0u, 1u, n - 1, 101u, 10 * n}) check_cost(*algorithm, n, bytes);
            }
        }
    }
}

TEST_CASE("one level of a split hierarchy is the ring, and levels cost Σ 2(g-1)(α + cβ) + (g-1)cγ", "[memory]") {
    const MessageCost cost{3, 2, 5};
    const auto ring = make_algorithm({.overlay = {}}, 10);
    const auto one = make_algorithm({.name = "hierarchical", .overlay = hierarchy({{Shape::star, 0}})}, 10);
    CHECK(one->cost(10, 1001, cost).value() == Approx(ring->cost(10, 1001, cost).value()));
    // 4 ranks a node, 3 nodes, 120 bytes: pieces of 30 and 10 bytes
    const auto two =
        make_algorithm({.name = "hierarchical", .overlay = hierarchy({{Shape::star, 4}, {Shape::ring, 3}})}, 12);
    CHECK(two->cost(12, 120, cost).value() == Approx(6 * (3 + 30 * 2) + 3 * 30 * 5 + 4 * (3 + 10 * 2) + 2 * 10 * 5));
}

TEST_CASE("leaders of groups reduce everything once, whatever the groups' patterns and sizes") {
    const std::vector<std::vector<HierarchyLevel>> hierarchies{
        {{Shape::star, 0}},
        {{Shape::ring, 0}},
        {{Shape::star, 4}, {Shape::ring, 0}},
        {{Shape::ring, 5}, {Shape::star, 0}},
        {{Shape::full_mesh, 3}, {Shape::exponential, 0}},
        {{Shape::star, 2}, {Shape::ring, 3}, {Shape::ring, 0}},
        {{Shape::exponential, 6}, {Shape::star, 2}, {Shape::full_mesh, 0}},
        {{Shape::star, 1}, {Shape::star, 64}, {Shape::ring, 0}}};
    for (const std::uint32_t n : group_sizes()) {
        for (const std::vector<HierarchyLevel>& levels : hierarchies) {
            const auto algorithm = make_algorithm({.name = "hierarchical-leaders", .overlay = hierarchy(levels)}, n);
            for (const std::uint64_t bytes : buffer_sizes(n)) {
                CAPTURE(n, bytes, levels.size(), levels[0].size, algorithm->formula(true));
                Machine machine(*algorithm, n, bytes);
                require_allreduce(machine, n);
                // Every rank connects to the others by one buffer up and one down, in a ring by 2(p-1)/p each.
                CHECK(machine.bytes_sent == 2 * (n - 1) * bytes);
            }
            if (n <= 18 && algorithm->cost(n, 1, {})) {
                for (const std::uint64_t bytes : {0u, 1u, 101u}) check_cost(*algorithm, n, bytes);
            }
        }
    }
    const AlgorithmSpec stars{.name = "hierarchical-leaders",
                              .overlay = hierarchy({{Shape::star, 4}, {Shape::star, 0}})};
    // With 7 ranks in two groups, 3 members send to a leader, then one leader to the other.
    CHECK(make_algorithm(stars, 7)->cost(7, 10, {3, 2, 5}).value() == Approx(2 * 6 + 10 * (3 + 1) * (2 * 2 + 5)));
    const AlgorithmSpec chains{.name = "hierarchical-leaders",
                               .overlay = hierarchy({{Shape::ring, 4}, {Shape::star, 0}})};
    CHECK(!make_algorithm(chains, 8)->cost(8, 10, {}));
}

TEST_CASE("a direct all-to-all brings block j of every rank to rank j", "[memory]") {
    for (const std::uint32_t n : group_sizes()) {
        const auto algorithm = make_algorithm({.operation = "all-to-all", .name = "direct", .overlay = {}}, n);
        for (const std::uint64_t bytes : buffer_sizes(n)) {
            CAPTURE(n, bytes);
            Machine machine(*algorithm, n, bytes);
            REQUIRE(machine.run());
            CHECK(machine.messages == n * (n - 1));
            CHECK(machine.bytes_sent == (n - 1) * bytes);
            for (std::uint32_t rank = 0; rank < n; ++rank) {
                std::set<std::uint32_t> from;
                for (const Machine::Arrival& arrival : machine.received[rank]) {
                    CHECK(arrival.block == rank);
                    from.insert(arrival.peer);
                }
                CHECK(from.size() == n - 1);
                CHECK(machine.bytes_sent_by[rank] == bytes - Partition{bytes, n}.size(rank));
                CHECK(machine.bytes_received[rank] == (n - 1) * Partition{bytes, n}.size(rank));
            }
            if (n <= 12) check_cost(*algorithm, n, bytes);
        }
    }
}

TEST_CASE("operations list their algorithms, and unsuitable parameters are rejected with the responsible key",
          "[memory]") {
    CHECK(algorithm_names("allreduce").front() == "ring");
    for (const std::string& operation : operation_names()) {
        for (const std::string& name : algorithm_names(operation)) {
            AlgorithmSpec spec{.operation = operation, .name = name, .overlay = {}};
            if (name.starts_with("hierarchical")) spec.overlay = hierarchy({{Shape::star, 0}});
            for (const std::uint32_t n : {1u, 6u}) {
                CAPTURE(operation, name, n);
                const auto algorithm = make_algorithm(spec, n);
                CHECK(algorithm->formula(true).empty() == (name == "nccl-tree"));
                if (n > 1) continue;
                CHECK(algorithm->cost(1, 1000, {1, 1, 1}) == 0.0);
                CHECK(algorithm->program(0, 1, 1000, 0).steps.empty());
            }
        }
    }
    CHECK_THROWS_AS(algorithm_names("all-to-one"), std::logic_error);
    CHECK_THROWS_AS(make_algorithm({.name = "rign", .overlay = {}}, 4), std::logic_error);
    CHECK_THROWS_AS(make_algorithm({.operation = "all-to-all", .name = "ring", .overlay = {}}, 4), std::logic_error);

    const auto blamed = [](const AlgorithmSpec& spec, std::uint32_t ranks) {
        try {
            make_algorithm(spec, ranks);
        } catch (const AlgorithmError& error) {
            CHECK(!std::string(error.what()).empty());
            return error.key;
        }
        return std::string("nothing");
    };
    const auto star = overlay(Shape::star);
    const std::string gossip = "neighbour-exchange";
    CHECK(blamed({.name = "ring", .overlay = star}, 4) == "overlay");
    CHECK(blamed({.operation = "all-to-all", .name = "direct", .overlay = star}, 4) == "overlay");
    CHECK(blamed({.name = "ring", .overlay = {}, .segment_bytes = 10}, 4) == "segment");
    CHECK(blamed({.name = "pipelined-tree", .overlay = {}, .segment_bytes = -1}, 4) == "segment");
    CHECK(blamed({.name = "pipelined-tree", .overlay = {}, .segment_bytes = 0.5}, 4) == "segment");
    CHECK(blamed({.name = "ring", .overlay = {}, .peers = Peers::one}, 4) == "peers");
    CHECK(blamed({.name = "pipelined-tree", .overlay = exponential(true)}, 4) == "overlay");
    CHECK(blamed({.name = "pipelined-tree", .overlay = overlay(Shape::fat_tree)}, 4) == "overlay");
    CHECK(blamed({.operation = gossip, .name = "gossip", .overlay = overlay(Shape::rails)}, 1) == "overlay");
    CHECK(blamed({.operation = gossip, .name = "gossip", .overlay = overlay(Shape::hypercube)}, 6) == "overlay");
    CHECK(blamed({.operation = gossip, .name = "gossip", .overlay = user_graph(5)}, 6) == "overlay");
    CHECK(blamed({.name = "hierarchical", .overlay = {}}, 4) == "algorithm");
    CHECK(blamed({.name = "hierarchical", .overlay = star}, 4) == "overlay");
    CHECK(blamed({.name = "hierarchical", .overlay = hierarchy({})}, 4) == "overlay");
    CHECK(blamed({.name = "hierarchical", .overlay = hierarchy({{Shape::star, 4}, {Shape::star, 2}})}, 9) == "overlay");
    CHECK(blamed({.name = "hierarchical-leaders", .overlay = hierarchy({{Shape::hypercube, 4}, {Shape::star, 0}})},
                 7) == "overlay");
    CHECK(blamed({.overlay = {}}, 0) == "ranks");
}

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"
#include "tests/unit/machine.hpp"
#include "tests/unit/star_clock.hpp"

// Compares gossip with the neighbours that shapes have by definition.

using namespace syncline;

namespace {

AlgorithmSpec gossip(Shape shape, bool directed = false, bool one_peer = false) {
    AlgorithmSpec spec{.operation = "neighbour-exchange", .name = "gossip", .overlay = TopologySpec{}};
    spec.overlay->shape = shape;
    spec.overlay->directed = directed;
    spec.peers = one_peer ? Peers::one : Peers::all;
    return spec;
}

using Neighbours = std::set<std::uint32_t>;

/// Returns the ranks that `rank` sends to, from the shapes' definitions.
Neighbours out_neighbours(Shape shape, bool directed, std::uint32_t rank, std::uint32_t n) {
    Neighbours result;
    for (std::uint32_t other = 0; other < n; ++other) {
        const std::uint32_t ahead = (other + n - rank) % n, behind = (rank + n - other) % n;
        const bool joined = shape == Shape::star        ? rank == 0 || other == 0
                            : shape == Shape::ring      ? ahead == 1 || behind == 1
                            : shape == Shape::tree      ? (rank + 1) / 2 == other + 1 || (other + 1) / 2 == rank + 1
                            : shape == Shape::hypercube ? std::has_single_bit(rank ^ other)
                            : shape == Shape::exponential
                                ? std::has_single_bit(ahead) || (!directed && std::has_single_bit(behind))
                                : true;
        if (joined && other != rank) result.insert(other);
    }
    return result;
}

struct Case {
    Shape shape;
    bool directed;
};

std::vector<Case> cases(std::uint32_t n) {
    std::vector<Case> result{{Shape::star, false},        {Shape::ring, false},       {Shape::tree, false},
                             {Shape::exponential, false}, {Shape::exponential, true}, {Shape::full_mesh, false}};
    if (std::has_single_bit(n)) result.push_back({Shape::hypercube, false});
    return result;
}

std::uint32_t lg_up(std::uint32_t n) {
    return static_cast<std::uint32_t>(std::bit_width(n - 1));
}

}  // namespace

TEST_CASE("after gossip every rank holds its own buffer and those of its in-neighbours, once each", "[memory]") {
    for (std::uint32_t n = 1; n <= 64; n += n < 33 ? 1 : 31) {
        for (const Case& with : cases(n)) {
            CAPTURE(n, shape_name(with.shape), with.directed);
            std::vector<Neighbours> to;
            std::size_t degree = 0;
            for (std::uint32_t rank = 0; rank < n; ++rank) {
                to.push_back(out_neighbours(with.shape, with.directed, rank, n));
                degree = std::max(degree, to.back().size());
            }
            const auto algorithm = make_algorithm(gossip(with.shape, with.directed), n);
            CHECK(algorithm->period() == 1);
            for (const std::uint64_t bytes : {0u, 1u, n - 1, 1001u}) {
                Machine machine(*algorithm, n, bytes, 3);
                REQUIRE(machine.run());
                for (std::uint32_t rank = 0; rank < n; ++rank) {
                    Contributions expected(n, 0);
                    for (std::uint32_t other = 0; other < n; ++other)
                        expected[other] = other == rank || to[other].contains(rank) ? 1 : 0;
                    CHECK(machine.buffers[rank] == Buffer{expected});
                    CHECK(machine.bytes_sent_by[rank] == to[rank].size() * bytes);
                }
            }
            const MessageCost cost{0.5, 0.25, 0.125};
            const double expected = n == 1 ? 0 : 0.5 + static_cast<double>(degree) * 10 * (0.25 + 0.125);
            CHECK(algorithm->cost(n, 10, cost).value() == Approx(expected));
            if (n <= 16) CHECK(StarClock(*algorithm, n, 10, cost).completion() == Approx(expected));
        }
    }
}

TEST_CASE(
    "a rank sends N-1 buffers from the centre of a star, two on a ring, lg N on the exponential graph, one per round",
    "[memory]") {
    const std::uint64_t bytes = 100;
    for (std::uint32_t n = 3; n <= 20; ++n) {
        const auto received_by_first = [&](const AlgorithmSpec& spec) {
            Machine machine(*make_algorithm(spec, n), n, bytes);
            REQUIRE(machine.run());
            CHECK(machine.bytes_received[0] == machine.bytes_sent_by[0]);
            return machine.bytes_sent_by[0];
        };
        CHECK(received_by_first(gossip(Shape::star)) == (n - 1) * bytes);
        CHECK(received_by_first(gossip(Shape::ring)) == 2 * bytes);
        CHECK(received_by_first(gossip(Shape::exponential, true)) == lg_up(n) * bytes);
        CHECK(received_by_first({.operation = "neighbour-exchange", .name = "gossip", .overlay = {}}) ==
              lg_up(n) * bytes);  // the default
        CHECK(received_by_first(gossip(Shape::exponential, true, true)) == bytes);
        CHECK(received_by_first(gossip(Shape::ring, false, true)) == bytes);
    }
}

TEST_CASE("with one peer per round every neighbour is met once in a period, and no rank meets two in a round",
          "[memory]") {
    for (std::uint32_t n = 1; n <= 64; n += n < 33 ? 1 : 31) {
        for (const Case& with : cases(n)) {
            CAPTURE(n, shape_name(with.shape), with.directed);
            const auto algorithm = make_algorithm(gossip(with.shape, with.directed, true), n);
            std::vector<std::multiset<std::uint32_t>> met(n);
            const MessageCost cost{0.5, 0.25, 0.125};
            for (std::uint32_t round = 0; round < algorithm->period(); ++round) {
                Machine machine(*algorithm, n, 10, round);
                REQUIRE(machine.run());
                if (n > 1) CHECK(machine.messages > 0);
                if (n > 1 && n <= 12)
                    CHECK(StarClock(*algorithm, n, 10, cost, round).completion() ==
                          Approx(algorithm->cost(n, 10, cost).value()));
                for (std::uint32_t rank = 0; rank < n; ++rank) {
                    CHECK(machine.received[rank].size() <= 1);
                    const auto& steps = machine.programs[rank].steps;
                    if (steps.empty()) continue;
                    REQUIRE(steps.size() == 1);
                    REQUIRE(steps[0].sends.size() <= 1);
                    for (const Message& message : steps[0].sends) met[rank].insert(message.peer);
                    if (!with.directed) CHECK(steps[0].sends[0].peer == steps[0].receives[0].peer);
                }
            }
            std::size_t degree = 0;
            for (std::uint32_t rank = 0; rank < n; ++rank) {
                const Neighbours expected = out_neighbours(with.shape, with.directed, rank, n);
                CHECK(met[rank] == std::multiset<std::uint32_t>(expected.begin(), expected.end()));
                degree = std::max(degree, expected.size());
            }
            CHECK(algorithm->period() >= degree);
            if (degree > 0) CHECK(algorithm->period() < 2 * degree);
        }
    }
}

TEST_CASE("one-peer exponential sends to i + 2^k with k = t mod lg N, and an even ring alternates", "[memory]") {
    for (std::uint32_t n = 2; n <= 40; ++n) {
        const auto one_peer = make_algorithm(gossip(Shape::exponential, true, true), n);
        CHECK(one_peer->period() == lg_up(n));
        for (std::uint32_t round = 0; round < 3 * lg_up(n); ++round) {
            for (std::uint32_t rank = 0; rank < n; ++rank) {
                CAPTURE(n, round, rank);
                const Program program = one_peer->program(rank, n, 1, round);
                CHECK(program.steps.at(0).sends.at(0).peer == (rank + (1u << round % lg_up(n))) % n);
                CHECK(program.steps.at(0).reduce);
            }
        }
        if (n < 4 || n % 2 != 0) continue;
        const auto ring = make_algorithm(gossip(Shape::ring, false, true), n);
        CHECK(ring->period() == 2);
    }
}

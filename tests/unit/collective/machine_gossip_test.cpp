#include <bit>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"
#include "tests/unit/machine.hpp"
#include "tests/unit/star_clock.hpp"

// Compares gossip by machine with BlueFog's peers, with what every rank must hold, and with its closed form.

using namespace syncline;

namespace {

AlgorithmSpec by_machine(std::int64_t size) {
    AlgorithmSpec spec{
        .operation = "neighbour-exchange", .name = "gossip", .overlay = TopologySpec{}, .peers = Peers::machine};
    spec.overlay->shape = Shape::hierarchical;
    spec.overlay->levels = {{Shape::ring, size}, {Shape::ring, 0}};
    return spec;
}

/// Returns the machine that sends to `machine` by BlueFog's GetExp2DynamicSendRecvMachineRanks.
std::uint32_t heard_by(std::uint32_t machine, std::uint32_t machines, std::uint32_t round) {
    std::uint32_t distances = 0;  // int(log2(machines - 1)) + 1
    for (std::uint32_t most = machines - 1; most > 0; most /= 2) ++distances;
    return (machine + machines - (1U << round % distances)) % machines;
}

}  // namespace

TEST_CASE("gossip by machine: every rank ends with the buffers of its machine and of one other, once each") {
    for (std::uint32_t size = 1; size <= 9; ++size) {
        for (std::uint32_t machines = 1; machines <= 9; ++machines) {
            const std::uint32_t n = size * machines;
            const auto algorithm = make_algorithm(by_machine(size), n);
            CHECK(algorithm->period() == (machines < 3 ? 1 : static_cast<std::uint32_t>(std::bit_width(machines - 1))));
            for (std::uint32_t round = 0; round < algorithm->period() + 1; ++round) {
                for (const std::uint64_t bytes : {0U, 1U, size, 1001U}) {
                    CAPTURE(size, machines, round, bytes);
                    Machine machine(*algorithm, n, bytes, round);
                    REQUIRE(machine.run());
                    for (std::uint32_t rank = 0; rank < n; ++rank) {
                        Contributions expected(n, 0);
                        const std::uint32_t own = rank / size;
                        for (std::uint32_t other = 0; other < n; ++other) {
                            const bool near = other / size == own;
                            const bool far = machines > 1 && other / size == heard_by(own, machines, round);
                            expected[other] = near || far ? 1 : 0;
                        }
                        REQUIRE(machine.buffers[rank] == Buffer(size, expected));
                    }
                    // A ring, one buffer to another machine, and one down the chain.
                    const std::uint64_t inside = (machines > 1 ? 3 : 2) * (size - 1) * bytes;
                    CHECK(machine.bytes_sent == machines * (inside + (machines > 1 ? bytes : 0)));
                }
            }
        }
    }
}

TEST_CASE("gossip by machine: among 2^k machines all ranks agree after k rounds", "[memory]") {
    for (const std::uint32_t size : {1U, 3U, 4U}) {
        for (const std::uint32_t machines : {2U, 4U, 8U}) {
            const std::uint32_t n = size * machines;
            const auto algorithm = make_algorithm(by_machine(size), n);
            std::vector<Buffer> held;
            for (std::uint32_t round = 0; round < algorithm->period(); ++round) {
                Machine machine(*algorithm, n, 600, round);
                if (round > 0) machine.buffers = held;
                REQUIRE(machine.run());
                held = machine.buffers;
            }
            // Averages are sums here: each round after the first adds up g equal buffers first.
            int times = 1;
            for (std::uint32_t round = 1; round < algorithm->period(); ++round) times *= static_cast<int>(size);
            CAPTURE(size, machines);
            for (const Buffer& buffer : held) CHECK(buffer == Buffer(size, Contributions(n, times)));
        }
    }
}

TEST_CASE("gossip by machine equals its closed form on a star, and has none for unequal blocks", "[memory]") {
    for (const std::uint32_t size : {1U, 2U, 3U, 4U, 7U, 8U}) {
        for (const std::uint32_t machines : {1U, 2U, 3U, 4U}) {
            const std::uint32_t n = size * machines;
            const auto algorithm = make_algorithm(by_machine(size), n);
            for (const bool travels : {false, true}) {
                const MessageCost cost{0.5, 0.25, 0.125, travels};
                for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{40} * size}) {
                    CAPTURE(size, machines, travels, bytes);
                    REQUIRE(algorithm->cost(n, bytes, cost));
                    CHECK(StarClock(*algorithm, n, bytes, cost).completion() ==
                          Approx(*algorithm->cost(n, bytes, cost)));
                }
                if (size > 1) CHECK_FALSE(algorithm->cost(n, 40 * size + 1, cost));
            }
        }
    }
    // Two machines of four, 80 bytes: 6 + 6 steps with blocks of 20, of which 3 are reduced, and one with all.
    const double by_hand = 12 * (0.5 + 20 * 0.25) + 3 * 20 * 0.125 + 0.5 + 80 * (0.25 + 0.125);
    CHECK(make_algorithm(by_machine(4), 8)->cost(8, 80, {0.5, 0.25, 0.125}).value() == Approx(by_hand));
}

TEST_CASE("gossip by machine: with one rank per machine it is one-peer exponential gossip", "[memory]") {
    AlgorithmSpec one_peer{.operation = "neighbour-exchange", .name = "gossip", .overlay = {}, .peers = Peers::one};
    for (std::uint32_t n = 2; n <= 17; ++n) {
        const auto machine = make_algorithm(by_machine(1), n), plain = make_algorithm(one_peer, n);
        REQUIRE(machine->period() == plain->period());
        for (std::uint32_t round = 0; round < plain->period(); ++round)
            for (std::uint32_t rank = 0; rank < n; ++rank)
                CHECK(machine->program(rank, n, 9, round).steps.at(0).sends.at(0).peer ==
                      plain->program(rank, n, 9, round).steps.at(0).sends.at(0).peer);
    }
}

TEST_CASE("gossip by machine: one rank sends nothing, ranks must be whole machines, and an overlay is required",
          "[memory]") {
    CHECK(make_algorithm(by_machine(8), 1)->program(0, 1, 5, 0).steps.empty());
    CHECK(make_algorithm(by_machine(8), 1)->cost(1, 5, {1, 1, 1}).value() == 0);
    CHECK_THROWS_AS(make_algorithm(by_machine(8), 12), AlgorithmError);
    AlgorithmSpec without = by_machine(8);
    without.overlay.reset();
    CHECK_THROWS_AS(make_algorithm(without, 16), AlgorithmError);
}

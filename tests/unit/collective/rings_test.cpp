#include <cmath>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"
#include "tests/unit/machine.hpp"
#include "tests/unit/promises.hpp"

// Rings: what every rank holds after them, the bytes in flight, and the time on a star.

using namespace syncline;

TEST_CASE("a ring reduce-scatter and a ring allgather keep their promises with N(N-1) messages and (N-1)·S bytes") {
    for (const char* operation : {"reduce-scatter", "allgather"}) {
        for (const std::uint32_t n : group_sizes()) {
            const auto ring = make_algorithm({.operation = operation, .name = "ring"}, n);
            for (const std::uint64_t bytes : buffer_sizes(n)) {
                CAPTURE(operation, n, bytes);
                Machine machine(*ring, n, bytes);
                CHECK(broken(machine, {.operation = operation, .ranks = n}) == "");
                CHECK(machine.messages == std::uint64_t{n} * (n - 1));
                CHECK(machine.bytes_sent == (n - 1) * bytes);
                if (n <= 20) check_cost(*ring, n, bytes);
            }
        }
    }
    const MessageCost cost{3, 2, 5};  // 7 bytes of 4 ranks: blocks of 1 and 2
    CHECK(make_algorithm({.operation = "reduce-scatter"}, 4)->cost(4, 7, cost) == 3 * (3. + 2 * 2 + 2 * 5));
    CHECK(make_algorithm({.operation = "allgather"}, 4)->cost(4, 7, cost) == 3 * (3. + 2 * 2));
}

TEST_CASE("a segmented ring reduces everything once, in segments of at most the given size") {
    for (const std::uint32_t n : group_sizes()) {
        for (const double segment : {0.0, 1.0, 50.0}) {
            const auto ring = make_algorithm({.name = "segmented-ring", .segment_bytes = segment}, n);
            for (const std::uint64_t bytes : buffer_sizes(n)) {
                CAPTURE(n, segment, bytes);
                Machine machine(*ring, n, bytes);
                CHECK(broken(machine, {.operation = "allreduce", .ranks = n}) == "");
                CHECK(machine.bytes_sent == 2 * (n - 1) * bytes);
                const Partition& partition = machine.programs[0].partition;
                const std::uint32_t segments = partition.blocks / n;
                CHECK(machine.messages == (segments + std::uint64_t{1}) * n * (n - 1));
                if (segment > 0) CHECK(static_cast<double>(partition.largest()) <= segment);
                const double block = std::ceil(static_cast<double>(bytes) / n);
                CHECK(segments == (segment == 0 || bytes == 0 ? 1 : std::ceil(block / segment)));
                CHECK(machine.programs[0].steps.size() <= n);
            }
        }
    }
}

TEST_CASE("a segmented ring takes (N-1)(m(α + sβ + sγ) + α + cβ), and less if uneven") {
    for (std::uint32_t n = 1; n <= 20; ++n) {
        for (const std::uint32_t segments : {1u, 2u, 5u, 30u}) {
            const auto ring = make_algorithm({.name = "segmented-ring", .segment_bytes = 3}, n);
            check_cost(*ring, n, std::uint64_t{3} * segments * n);
            const MessageCost cost{3, 2, 5};
            CHECK(ring->cost(n, std::uint64_t{3} * segments * n, cost) ==
                  (n - 1.) * (segments * (3. + 3 * 2 + 3 * 5) + 3. + 3 * segments * 2));
        }
        for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{n - 1}, std::uint64_t{101}}) {
            for (const double segment : {1.0, 4.0, 9.0}) {
                const auto ring = make_algorithm({.name = "segmented-ring", .segment_bytes = segment}, n);
                const std::uint32_t segments = ring->program(0, n, bytes, 0).partition.blocks / n;
                if (segments == 1 || bytes % (n * segments) == 0) {
                    check_cost(*ring, n, bytes);
                    continue;
                }
                const auto with = [&](std::uint64_t longest, std::uint64_t block) {
                    return [=](const MessageCost& cost) {
                        const double phase =
                            cost.alpha_s + static_cast<double>(longest) * (cost.beta_s_per_B + cost.gamma_s_per_B);
                        return (n - 1.) *
                               (segments * phase + cost.alpha_s + static_cast<double>(block) * cost.beta_s_per_B);
                    };
                };
                const std::uint64_t least = bytes / (n * segments), block = bytes / n;
                check_uneven(*ring, n, bytes, with(least, block), with(least + 1, block + 1));
            }
        }
        const auto whole = make_algorithm({.name = "segmented-ring"}, n);
        check_cost(*whole, n, 101);  // the plain ring, exact for any size
        CHECK(whole->cost(n, 101, {3, 2, 5}) == make_algorithm({}, n)->cost(n, 101, {3, 2, 5}));
    }
}

TEST_CASE("a segmented ring's program is as short with many segments, and too many are refused", "[memory]") {
    const auto ring = make_algorithm({.name = "segmented-ring", .segment_bytes = 1}, 8);
    CHECK(ring->program(3, 8, 8'000'000, 0).steps.size() <= 8);
    CHECK(messages_sent(ring->program(3, 8, 8'000'000, 0)) == 7 * 1'000'001);
    CHECK_THROWS_AS(ring->program(0, 8, 1ull << 40, 0), AlgorithmError);
    // few enough in each block, but too many in all blocks together
    const auto large = make_algorithm({.name = "segmented-ring", .segment_bytes = 1}, 1u << 20);
    CHECK_THROWS_AS(large->program(0, 1u << 20, 1ull << 40, 0), AlgorithmError);
}

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"
#include "tests/unit/machine.hpp"
#include "tests/unit/promises.hpp"

// Halving, doubling, Bruck's, direct and binomial algorithms: what every rank holds after them, the bytes in flight,
// and the time on a star.

using namespace syncline;

namespace {

std::uint32_t floor_lg(std::uint32_t n) {
    return static_cast<std::uint32_t>(std::bit_width(n)) - 1;
}

std::uint32_t ceil_lg(std::uint32_t n) {
    return static_cast<std::uint32_t>(std::bit_width(n - 1));
}

/// Returns the number of ranks above a power of two.
std::uint32_t surplus(std::uint32_t n) {
    return n - std::bit_floor(n);
}

using ByRanks = std::function<double(std::uint32_t ranks)>;

/// Buffers with a closed form: those that N divides; any if N is a power of two; any.
enum class Closed { even, even_or_power, always };

bool is_closed(Closed closed, std::uint32_t ranks, std::uint64_t bytes) {
    return closed == Closed::always || bytes % ranks == 0 ||
           (closed == Closed::even_or_power && std::has_single_bit(ranks));
}

/// Checks promise, number of messages, and time: equal to the closed form if there is one, otherwise between those of
/// the nearest smaller and larger buffers whose blocks are equal.
void check(const AlgorithmSpec& spec, const ByRanks& messages, Closed closed = Closed::always,
           bool by_distance = false) {
    for (const std::uint32_t n : group_sizes()) {
        const auto algorithm = make_algorithm(spec, n);
        for (const std::uint64_t bytes : buffer_sizes(n)) {
            CAPTURE(spec.operation, spec.name, n, bytes);
            Machine machine(*algorithm, n, bytes);
            CHECK(broken(machine, {.operation = spec.operation, .ranks = n, .by_distance = by_distance}) == "");
            CHECK(static_cast<double>(machine.messages) == messages(n));
            if (n > 20) continue;
            const auto even = [&](std::uint64_t multiple) {
                return [&algorithm, n, multiple](const MessageCost& cost) {
                    return algorithm->cost(n, multiple * n, cost).value();
                };
            };
            if (is_closed(closed, n, bytes))
                check_cost(*algorithm, n, bytes);
            else
                check_uneven(*algorithm, n, bytes, even(bytes / n), even(bytes / n + 1));
        }
    }
}

double cost(const AlgorithmSpec& spec, std::uint32_t ranks, std::uint64_t bytes) {
    return make_algorithm(spec, ranks)->cost(ranks, bytes, {3, 2, 5}).value();
}

std::uint64_t bytes_sent(const AlgorithmSpec& spec, std::uint32_t ranks, std::uint64_t bytes) {
    Machine machine(*make_algorithm(spec, ranks), ranks, bytes);
    REQUIRE(machine.run());
    return machine.bytes_sent;
}

double all_pairs(std::uint32_t n) {
    return n * (n - 1.);
}

}  // namespace

TEST_CASE("Rabenseifner's all-reduce reduces everything once and equals its closed form, for any number of ranks",
          "[memory]") {
    const AlgorithmSpec spec{.name = "rabenseifner"};
    check(spec, [](auto n) { return 2. * std::bit_floor(n) * floor_lg(n) + 2. * surplus(n); });
    // Thakur et al.: 2 lg p·α + 2(p-1)/p·nβ + (p-1)/p·nγ; others fold, with (P-1)/P of the power of two below
    CHECK(cost(spec, 8, 800) == Approx(6 * 3 + 2 * 700 * 2 + 700 * 5));
    CHECK(cost(spec, 13, 800) == Approx(8 * 3 + 2 * (700 + 800) * 2 + (700 + 800) * 5));
    CHECK(cost(spec, 4, 7) == Approx(4 * 3 + (4 + 2) * (2 * 2 + 5)));  // halves of 4, quarters of 2
    for (const std::uint32_t n : {2u, 8u, 32u}) CHECK(bytes_sent(spec, n, 320) == 2 * (n - 1) * 320);
}

TEST_CASE("recursive halving leaves every rank its block of the sum and equals its closed form", "[memory]") {
    const AlgorithmSpec spec{.operation = "reduce-scatter", .name = "recursive-halving"};
    check(
        spec, [](auto n) { return std::bit_floor(n) * floor_lg(n) + 2. * surplus(n); }, Closed::even_or_power);
    CHECK(cost(spec, 8, 800) == Approx(3 * 3 + 700 * (2 + 5)));
    // 5 ranks: fold 100; place 0 keeps 3 of 5 blocks, then 2; one goes back
    CHECK(cost(spec, 5, 100) == Approx(4 * 3 + (100 + 60 + 40) * (2 + 5) + 20 * 2));
    for (const std::uint32_t n : {2u, 8u, 32u}) CHECK(bytes_sent(spec, n, 320) == (n - 1) * 320);
}

TEST_CASE("recursive doubling gathers every block everywhere and equals its closed form", "[memory]") {
    const AlgorithmSpec spec{.operation = "allgather", .name = "recursive-doubling"};
    check(
        spec, [](auto n) { return std::bit_floor(n) * floor_lg(n) + 2. * surplus(n); }, Closed::even_or_power);
    CHECK(cost(spec, 8, 800) == Approx(3 * 3 + 700 * 2));
    CHECK(cost(spec, 5, 100) == Approx(4 * 3 + (20 + 40 + 60 + 80) * 2));
    for (const std::uint32_t n : {2u, 8u, 32u}) CHECK(bytes_sent(spec, n, 320) == (n - 1) * 320);
}

TEST_CASE("Bruck's allgather takes ⌈lg N⌉ steps for any N and sends the missing blocks", "[memory]") {
    const AlgorithmSpec spec{.operation = "allgather", .name = "bruck"};
    check(spec, [](auto n) { return n * ceil_lg(n); });
    for (const std::uint32_t n : group_sizes()) {
        CAPTURE(n);
        CHECK(cost(spec, n, 10 * n) == Approx(ceil_lg(n) * 3. + (n - 1) * 10 * 2.));
        CHECK(bytes_sent(spec, n, 1001) == (n - 1) * 1001);
    }
}

TEST_CASE("parallel aggregated trees take ⌈lg N⌉ steps for any N, with each block sent once to each rank", "[memory]") {
    for (const char* operation : {"allgather", "reduce-scatter"}) {
        const AlgorithmSpec spec{.operation = operation, .name = "pat"};
        check(
            spec, [](auto n) { return n * ceil_lg(n); }, Closed::even);
        const double gamma = spec.operation == "reduce-scatter" ? 5 : 0;
        CHECK(cost(spec, 13, 1300) == Approx(4 * 3 + 1200 * (2 + gamma)));
        CHECK(bytes_sent(spec, 13, 1001) == 12 * 1001);
        // Rank 0 of 6 lacks five blocks: one of four places before, one of two, and three by way of the neighbour.
        const Program program = make_algorithm(spec, 6)->program(0, 6, 600, 0);
        std::vector<std::pair<std::uint32_t, std::size_t>> peers_and_blocks;
        for (const Step& step : program.steps)
            peers_and_blocks.emplace_back(step.sends[0].peer, 1 + step.sends[0].more.size());
        using Expected = std::vector<std::pair<std::uint32_t, std::size_t>>;
        CHECK(peers_and_blocks == (gamma == 0 ? Expected{{4, 1}, {2, 1}, {1, 3}} : Expected{{5, 3}, {4, 1}, {2, 1}}));
        CHECK(make_algorithm(spec, 1)->program(0, 1, 600, 0).steps.empty());
    }
}

TEST_CASE("Bruck's all-to-all brings every block to its rank, by the bits of its distance") {
    const AlgorithmSpec spec{.operation = "all-to-all", .name = "bruck"};
    check(
        spec, [](auto n) { return n * ceil_lg(n); }, Closed::always, true);
    for (const std::uint32_t n : group_sizes()) {
        CAPTURE(n);
        std::uint32_t hops = 0;  // of all blocks of a rank: the number of bits set in their distances
        for (std::uint32_t distance = 1; distance < n; ++distance)
            hops += static_cast<std::uint32_t>(std::popcount(distance));
        for (const std::uint64_t bytes : buffer_sizes(n)) {
            CAPTURE(bytes);
            const std::uint64_t padded = (bytes + n - 1) / n;
            CHECK(bytes_sent(spec, n, bytes) == hops * padded * n);
            CHECK(cost(spec, n, bytes) == Approx(ceil_lg(n) * 3. + static_cast<double>(hops * padded) * 2));
        }
    }
}

TEST_CASE("all-to-alls in pairs and direct exchanges keep their promises and equal their closed forms") {
    const AlgorithmSpec pairwise{.operation = "all-to-all", .name = "pairwise"};
    check(pairwise, all_pairs, Closed::even);
    CHECK(cost(pairwise, 4, 8) == Approx(3 * (3 + 2 * 2)));
    CHECK(bytes_sent(pairwise, 6, 1001) == 5 * 1001);
    for (const char* operation : {"all-to-all", "reduce-scatter", "allgather"}) {
        const AlgorithmSpec direct{.operation = operation, .name = "direct"};
        check(direct, all_pairs);
        CHECK(bytes_sent(direct, 6, 1001) == 5 * 1001);
    }
    const AlgorithmSpec allreduce{.name = "direct"};
    check(allreduce, [](auto n) { return 2 * all_pairs(n); });
    CHECK(cost(allreduce, 4, 7) == Approx(2 * (3 + 3 * 2 * 2) + 3 * 2 * 5));
    CHECK(bytes_sent(allreduce, 6, 1001) == 2 * 5 * 1001);
}

TEST_CASE("direct exchanges with a root keep their promises and take the time of its link", "[memory]") {
    const auto others = [](std::uint32_t n) { return n - 1.; };
    for (const char* operation : {"scatter", "gather", "broadcast", "reduce"})
        check({.operation = operation, .name = "direct"}, others);
    CHECK(cost({.operation = "scatter", .name = "direct"}, 4, 7) == Approx(3 + 6 * 2));  // 1 byte stays
    CHECK(cost({.operation = "gather", .name = "direct"}, 4, 7) == Approx(3 + 6 * 2));
    CHECK(cost({.operation = "broadcast", .name = "direct"}, 4, 7) == Approx(3 + 21 * 2));
    CHECK(cost({.operation = "reduce", .name = "direct"}, 4, 7) == Approx(3 + 21 * (2 + 5)));
}

TEST_CASE("binomial scatter and gather keep their promises in ⌈lg N⌉ steps, one message to or from each rank",
          "[memory]") {
    for (const char* operation : {"scatter", "gather"}) {
        const AlgorithmSpec spec{.operation = operation, .name = "binomial-tree"};
        check(
            spec, [](auto n) { return n - 1.; }, Closed::even);
        CHECK(cost(spec, 8, 800) == Approx(3 * 3 + 700 * 2));
        CHECK(cost(spec, 13, 1300) == Approx(4 * 3 + 1200 * 2));
        // ranks 1, 3, 5, 7 travel one hop, 2 and 6 one, 4 one; 3, 5, 6 another, and 7 two others
        CHECK(bytes_sent(spec, 8, 800) == (1 + 1 + 2 + 1 + 2 + 2 + 3) * 100);
    }
}

TEST_CASE("a broadcast by scatter and allgather reaches all ranks and equals its closed form", "[memory]") {
    const AlgorithmSpec spec{.operation = "broadcast", .name = "scatter-allgather"};
    check(
        spec, [](auto n) { return n - 1. + all_pairs(n); }, Closed::even);
    // Thakur et al.: (lg p + p - 1)α + 2(p-1)/p·nβ
    CHECK(cost(spec, 8, 800) == Approx((3 + 7) * 3 + 2 * 700 * 2));
    CHECK(cost(spec, 13, 1300) == Approx((4 + 12) * 3 + 2 * 1200 * 2));
}

TEST_CASE("no rank leaves a dissemination barrier before all have entered it, after ⌈lg N⌉ empty messages each",
          "[memory]") {
    const AlgorithmSpec spec{.operation = "barrier", .name = "dissemination"};
    check(spec, [](auto n) { return n * ceil_lg(n); });
    CHECK(cost(spec, 13, 1000) == 4 * 3);
    CHECK(bytes_sent(spec, 13, 1000) == 0);
}

TEST_CASE("runs of blocks differ by at most a byte, and closed forms count with the largest", "[memory]") {
    for (const std::uint64_t bytes : {0ull, 1ull, 12ull, 1001ull, (1ull << 62) + 12345}) {
        for (const Partition& partition : {Partition{bytes, 1}, Partition{bytes, 12}, Partition{bytes, 13}}) {
            for (std::uint32_t count = 1; count <= partition.blocks; ++count) {
                CAPTURE(bytes, partition.blocks, count);
                std::uint64_t largest = 0;
                for (std::uint32_t block = 0; block < partition.blocks; ++block) {
                    largest = std::max(largest, partition.size(block, count));
                    CHECK(partition.size(block, count) + 1 >= partition.largest(count));
                }
                CHECK(largest == partition.largest(count));
                CHECK(partition.size(partition.blocks - count, count) == largest);  // the last ones are among them
            }
        }
    }
    CHECK(Partition{10, 8, 3}.largest() == 4);
    CHECK(Partition{10, 8, 3}.largest(5) == 10);
}

TEST_CASE("a missing step breaks every promise", "[memory]") {
    class Shortened : public CollectiveAlgorithm {
    public:
        explicit Shortened(const CollectiveAlgorithm& whole) : whole_(whole) {}
        Program program(std::uint32_t rank, std::uint32_t n, std::uint64_t bytes, std::uint32_t round) const override {
            Program program = whole_.program(rank, n, bytes, round);
            Step& last = program.steps.back();
            if (last.repeat > 1)
                --last.repeat;
            else
                program.steps.pop_back();
            return program;
        }
        std::optional<double> cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return {}; }
        std::string formula(bool) const override { return ""; }

    private:
        const CollectiveAlgorithm& whole_;
    };
    constexpr std::uint32_t n = 8;
    for (const std::string& operation : operation_names()) {
        if (operation == "neighbour-exchange") continue;
        for (const std::string& name : algorithm_names(operation)) {
            if (name.starts_with("hierarchical")) continue;  // need an overlay; allreduce has others
            CAPTURE(operation, name);
            const auto whole = make_algorithm({.operation = operation, .name = name}, n);
            const std::vector<Step> steps = whole->program(0, n, 1000, 0).steps;
            if (std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.body > 1; })) continue;
            const Promise promise{.operation = operation, .ranks = n, .by_distance = name == "bruck"};
            Machine machine(Shortened(*whole), n, 1000);
            CHECK(broken(machine, promise) != "");
        }
    }
}

#include <algorithm>
#include <bit>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"
#include "tests/unit/machine.hpp"
#include "tests/unit/promises.hpp"

// Allgathers and all-reduces to which q of N ranks contribute and whose result q' receive.

using namespace syncline;

namespace {

struct Subsets {
    std::uint32_t contributors = 1, receivers = 1;
};

/// Returns all pairs for small groups; one, two thirds and all for larger ones.
std::vector<Subsets> subsets_of(std::uint32_t n) {
    std::vector<std::uint32_t> sizes{1, n - n / 3, n};
    if (n <= 7) {
        sizes.clear();
        for (std::uint32_t size = 1; size <= n; ++size) sizes.push_back(size);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    std::erase_if(sizes, [n](std::uint32_t size) { return size < 1 || size > n; });
    std::vector<Subsets> result;
    for (const std::uint32_t contributors : sizes) {
        for (const std::uint32_t receivers : sizes) result.push_back({contributors, receivers});
    }
    return result;
}

AlgorithmSpec spec_of(const std::string& operation, const std::string& name, const Subsets& subsets,
                      double segment = 0) {
    return {.operation = operation,
            .name = name,
            .segment_bytes = segment,
            .contributors = subsets.contributors,
            .receivers = subsets.receivers};
}

/// Calls check(n, subsets) for all groups and subsets.
template <class Check>
void for_all_subsets(const Check& check) {
    for (const std::uint32_t n : group_sizes()) {
        for (const Subsets& subsets : subsets_of(n)) check(n, subsets);
    }
}

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
}

double double_of(std::uint64_t bytes) {
    return static_cast<double>(bytes);
}

constexpr MessageCost cost{3, 2, 5};

}  // namespace

TEST_CASE(
    "with fewer contributors a ring allgather and a padded one take the same time, and the padded one moves more") {
    for_all_subsets([](std::uint32_t n, const Subsets& subsets) {
        const std::uint32_t q = subsets.contributors;
        const auto ring = make_algorithm(spec_of("allgather", "ring", subsets), n);
        const auto padded = make_algorithm(spec_of("allgather", "padded-ring", subsets), n);
        const Promise promise{"allgather", n, q, subsets.receivers};
        for (const std::uint64_t bytes : buffer_sizes(n)) {
            CAPTURE(n, q, subsets.receivers, bytes);
            Machine exact(*ring, n, bytes), filled(*padded, n, bytes);
            CHECK(broken(exact, promise) == "");
            CHECK(broken(filled, promise) == "");
            CHECK(exact.bytes_sent == (n - 1) * bytes);
            CHECK(filled.bytes_sent == std::uint64_t{n} * (n - 1) * ceil_div(bytes, q));
            const double time = (n - 1) * (3 + double_of(ceil_div(bytes, q)) * 2);
            CHECK(ring->cost(n, bytes, cost) == Approx(time));
            CHECK(padded->cost(n, bytes, cost) == Approx(time));
            if (n > 12 || subsets.receivers != n) continue;
            check_cost(*ring, n, bytes);
            check_cost(*padded, n, bytes);
        }
    });
}

TEST_CASE("a ring among contributors and broadcasts from each reach every receiver, and no other rank") {
    for (const double segment : {0.0, 9.0, 1e6}) {
        for_all_subsets([&](std::uint32_t n, const Subsets& subsets) {
            const std::uint32_t q = subsets.contributors, receivers = subsets.receivers;
            const auto way = make_algorithm(spec_of("allgather", "ring-broadcast", subsets, segment), n);
            for (const std::uint64_t bytes :
                 {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{n - 1}, std::uint64_t{101}}) {
                CAPTURE(n, q, receivers, segment, bytes);
                Machine machine(*way, n, bytes);
                const std::uint32_t each = machine.programs[0].partition.blocks / q;
                CHECK(broken(machine, {"allgather", n, q, receivers, each}) == "");
                // every contributor except one receives all data that is not its own, every further receiver all data
                const std::uint32_t further = receivers > q ? receivers - q : 0;
                CHECK(machine.bytes_sent == (q - 1 + further) * bytes);
                for (std::uint32_t rank = std::max(q, receivers); rank < n; ++rank) {
                    CHECK(machine.programs[rank].steps.empty());
                    CHECK(machine.bytes_received[rank] == 0);
                }
            }
        });
    }
}

TEST_CASE("spread-doubling brings contributions to all ranks, within the time of a doubling and a part") {
    for_all_subsets([](std::uint32_t n, const Subsets& subsets) {
        const std::uint32_t q = subsets.contributors;
        const auto way = make_algorithm(spec_of("allgather", "spread-doubling", subsets), n);
        for (const std::uint64_t bytes : buffer_sizes(n)) {
            CAPTURE(n, q, bytes);
            Machine machine(*way, n, bytes);
            const std::uint32_t each = machine.programs[0].partition.blocks / q;
            CHECK(broken(machine, {"allgather", n, q, n, each}) == "");
            CHECK(machine.bytes_sent <= n * bytes);
            if (q == n && std::has_single_bit(n)) check_cost(*way, n, bytes);
            if (n > 12 || !std::has_single_bit(n) || bytes % (n * q) != 0 || subsets.receivers != n) continue;
            const double part = double_of(bytes / n) * (n - 1) + double_of(bytes / q);
            CHECK(StarClock(*way, n, bytes, cost).completion() <= (std::bit_width(n - 1) + 1) * 3 + part * 2 + 1e-9);
        }
    });
}

TEST_CASE("a ring and broadcasts take (q-1)(α + ⌈S/q⌉β), and ⌈lg g⌉(α + Sβ) or (g-2+m)(α + ⌈S/m⌉β)") {
    for (std::uint32_t n = 1; n <= 20; ++n) {
        for (const Subsets& subsets : subsets_of(n)) {
            const std::uint32_t q = subsets.contributors;
            const auto group = static_cast<std::uint32_t>(ceil_div(std::max(subsets.receivers, q), q));
            CAPTURE(n, q, subsets.receivers, group);
            const auto doubling = make_algorithm(spec_of("allgather", "ring-broadcast", subsets), n);
            check_cost(*doubling, n, 10 * q);
            std::uint32_t rounds = 0;
            while (1u << rounds < group) ++rounds;
            for (const std::uint64_t bytes : {0u, 1u, 101u}) {
                if (q == 1 || group == 1 || bytes % q == 0) {
                    check_cost(*doubling, n, bytes);
                    continue;
                }
                const auto with = [&](std::uint64_t block) {
                    return [=](const MessageCost& message) {
                        return (q - 1) * (message.alpha_s + double_of(block) * message.beta_s_per_B) +
                               rounds * (message.alpha_s + double_of(bytes) * message.beta_s_per_B);
                    };
                };
                check_uneven(*doubling, n, bytes, with(bytes / q), with(bytes / q + 1));
            }
            CHECK(doubling->cost(n, 10 * q, cost) == Approx((q - 1) * (3 + 10 * 2.) + rounds * (3 + 20. * q)));

            const auto chain = make_algorithm(spec_of("allgather", "ring-broadcast", subsets, 5), n);
            check_cost(*chain, n, 20 * q);  // segments of 5
            const double piped = group == 1 ? 0 : (group - 2. + 4 * q) * (3 + 5 * 2);
            CHECK(chain->cost(n, 20 * q, cost) == Approx((q - 1) * (3 + 20 * 2.) + piped));
            for (const std::uint64_t bytes : {0u, 1u, 103u}) {
                const std::uint64_t segments = std::max<std::uint64_t>(ceil_div(bytes, 5), 1);
                if (group == 1 || (bytes % q == 0 && bytes % segments == 0)) {
                    check_cost(*chain, n, bytes);
                    continue;
                }
                const auto with = [&](std::uint64_t block, std::uint64_t segment) {
                    return [=](const MessageCost& message) {
                        return (q - 1) * (message.alpha_s + double_of(block) * message.beta_s_per_B) +
                               (group - 2. + double_of(segments)) *
                                   (message.alpha_s + double_of(segment) * message.beta_s_per_B);
                    };
                };
                check_uneven(*chain, n, bytes, with(bytes / q, bytes / segments),
                             with(ceil_div(bytes, q), ceil_div(bytes, segments)));
            }
        }
    }
}

TEST_CASE(
    "reduce-scatter among contributors and allgather among receivers add up contributions and ignore other ranks") {
    for_all_subsets([](std::uint32_t n, const Subsets& subsets) {
        const std::uint32_t q = subsets.contributors, receivers = subsets.receivers;
        const auto way = make_algorithm(spec_of("allreduce", "reduce-scatter-allgather", subsets), n);
        for (const std::uint64_t bytes : buffer_sizes(n)) {
            CAPTURE(n, q, receivers, bytes);
            Machine machine(*way, n, bytes);
            CHECK(broken(machine, {"allreduce", n, q, receivers}) == "");
            CHECK(machine.bytes_sent == (q + receivers - 2) * bytes);
            CHECK(machine.messages == std::uint64_t{q} * (q - 1) + std::uint64_t{receivers} * (receivers - 1));
            for (std::uint32_t rank = std::max(q, receivers); rank < n; ++rank)
                CHECK(machine.programs[rank].steps.empty());
            const double block = double_of(ceil_div(bytes, std::min(q, receivers)));
            CHECK(way->cost(n, bytes, cost) ==
                  Approx((q - 1) * (3 + block * (2 + 5)) + (receivers - 1) * (3 + block * 2)));
            if (n <= 20) check_cost(*way, n, bytes);
        }
    });
}

TEST_CASE("in the naive all-reduce all ranks take part, and ranks without data add zeros") {
    for_all_subsets([](std::uint32_t n, const Subsets& subsets) {
        const auto naive = make_algorithm(spec_of("allreduce", "ring", subsets), n);
        Machine machine(*naive, n, 1001);
        CAPTURE(n, subsets.contributors, subsets.receivers);
        CHECK(broken(machine, {"allreduce", n, subsets.contributors, n}) == "");  // all receive
        CHECK(machine.bytes_sent == 2 * (n - 1) * 1001);
    });
}

TEST_CASE("no algorithm moves more bytes than the padded or naive one, nor fewer than receivers lack") {
    for_all_subsets([](std::uint32_t n, const Subsets& subsets) {
        const std::uint32_t q = subsets.contributors, receivers = subsets.receivers;
        const auto sent = [&](const std::string& operation, const std::string& name, double segment = 0) {
            Machine machine(*make_algorithm(spec_of(operation, name, subsets, segment), n), n, 1001);
            REQUIRE(machine.run());
            return machine.bytes_sent;
        };
        CAPTURE(n, q, receivers);
        const std::uint64_t lacking = 1001 * (receivers > q ? receivers - q : 0);
        const std::uint64_t padded = sent("allgather", "padded-ring");
        for (const std::uint64_t some :
             {sent("allgather", "ring"), sent("allgather", "ring-broadcast"), sent("allgather", "ring-broadcast", 100),
              sent("allgather", "spread-doubling")}) {
            CHECK(some <= padded);
            CHECK(some >= lacking);
        }
        const std::uint64_t some = sent("allreduce", "reduce-scatter-allgather");
        CHECK(some <= sent("allreduce", "ring"));
        CHECK(some >= lacking);
    });
}

TEST_CASE("contributors and receivers must be members of the group, and the algorithm must support them", "[memory]") {
    const auto blamed = [](const AlgorithmSpec& spec) {
        try {
            make_algorithm(spec, 4);
        } catch (const AlgorithmError& error) {
            return error.key;
        }
        return std::string("nothing");
    };
    CHECK(blamed(spec_of("allgather", "ring", {5, 4})) == "contributors");
    CHECK(blamed(spec_of("allgather", "ring-broadcast", {4, 5})) == "receivers");
    CHECK(blamed({.operation = "allgather", .name = "bruck", .contributors = 2}) == "contributors");
    CHECK(blamed({.operation = "allreduce", .name = "rabenseifner", .receivers = 2}) == "receivers");
    CHECK(blamed(spec_of("allreduce", "reduce-scatter-allgather", {1, 4})) == "nothing");
}

#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "tests/catch.hpp"
#include "tests/unit/group_sizes.hpp"
#include "tests/unit/machine.hpp"
#include "tests/unit/star_clock.hpp"

/// Promises of each operation: what every rank of a Machine starts with, and what it must hold in the end. They are
/// derived from the operations' meaning in MPI, not from any algorithm.
namespace syncline {

struct Promise {
    std::string operation;
    std::uint32_t ranks = 1;
    std::uint32_t contributors = 0, receivers = 0;  ///< number of first ranks; 0: all
    std::uint32_t blocks_each = 1;                  ///< number of blocks of a contributor to an allgather
    bool by_distance = false;                       ///< all-to-all: block d is for the rank d places on, not for rank d

    bool contributes(std::uint32_t rank) const { return rank < (contributors == 0 ? ranks : contributors); }
    bool receives(std::uint32_t rank) const { return rank < (receivers == 0 ? ranks : receivers); }
};

namespace promises {

inline Contributions only(std::uint32_t rank, std::uint32_t ranks) {
    Contributions one(ranks, 0);
    one[rank] = 1;
    return one;
}

inline Contributions sum(const Promise& promise) {
    Contributions all(promise.ranks, 0);
    for (std::uint32_t rank = 0; rank < promise.ranks; ++rank) all[rank] = promise.contributes(rank) ? 1 : 0;
    return all;
}

/// Returns true if block `block` has bytes, or would have some in a larger buffer.
inline bool is_filled(const Partition& partition, std::uint32_t block) {
    return partition.filled == 0 || block < partition.filled;
}

/// Returns what `rank` starts with in `block`. For an all-to-all, sender and receiver instead of contributions.
inline Contributions before(const Promise& promise, std::uint32_t rank, std::uint32_t block) {
    const std::uint32_t n = promise.ranks;
    const std::string& operation = promise.operation;
    bool has = promise.contributes(rank);
    if (operation == "allgather" || operation == "gather") has = has && block / promise.blocks_each == rank;
    if (operation == "broadcast" || operation == "scatter") has = rank == 0;
    if (operation == "all-to-all") {
        const std::uint32_t to = promise.by_distance ? (rank + block) % n : block;
        return {static_cast<int>(rank), static_cast<int>(to)};
    }
    return has ? only(rank, n) : Contributions(n, 0);
}

/// Returns what `rank` must hold of `block` in the end; empty if nothing is promised.
inline Contributions after(const Promise& promise, std::uint32_t rank, std::uint32_t block) {
    const std::uint32_t n = promise.ranks;
    const std::string& operation = promise.operation;
    if (operation == "allreduce") return promise.receives(rank) ? sum(promise) : Contributions{};
    if (operation == "reduce-scatter") return block == rank ? sum(promise) : Contributions{};
    if (operation == "reduce") return rank == 0 ? sum(promise) : Contributions{};
    if (operation == "broadcast") return only(0, n);
    if (operation == "scatter") return block == rank ? only(0, n) : Contributions{};
    if (operation == "gather") return rank == 0 ? only(block, n) : Contributions{};
    if (operation == "allgather") {
        const std::uint32_t owner = block / promise.blocks_each;
        return promise.receives(rank) && promise.contributes(owner) ? only(owner, n) : Contributions{};
    }
    return {};
}

}  // namespace promises

/// Runs the machine from the operation's initial state; returns what is wrong in the end, or nothing.
inline std::string broken(Machine& machine, const Promise& promise) {
    const std::uint32_t n = promise.ranks;
    const bool all_to_all = promise.operation == "all-to-all";
    const auto parts = static_cast<std::uint32_t>(machine.buffers.size()) / n;
    for (std::uint32_t i = 0; i < machine.buffers.size(); ++i) {
        for (std::uint32_t block = 0; block < machine.buffers[i].size(); ++block)
            machine.buffers[i][block] = promises::before(promise, i / parts, block);
    }
    std::vector<std::multiset<int>> from(n);
    machine.watch = [&](std::uint32_t rank, const Contributions& block) {
        if (all_to_all && block.at(1) == static_cast<int>(rank)) from[rank].insert(block.at(0));
    };
    const bool ended = machine.run();
    machine.watch = {};
    if (!ended) return "stuck, or a message is left over";

    std::uint64_t counted = 0;
    for (const Program& program : machine.programs) counted += messages_sent(program);
    if (counted != machine.messages) return "messages are counted wrong";
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        const Partition& partition = machine.programs[rank * machine.programs.size() / n].partition;
        for (std::uint32_t part = 0; part < parts; ++part) {
            const Buffer& buffer = machine.buffers[rank * parts + part];
            for (std::uint32_t block = 0; block < buffer.size(); ++block) {
                const Contributions promised = promises::after(promise, rank, block);
                if (promised.empty() || !promises::is_filled(partition, block)) continue;
                if (buffer[block] != promised) return fmt::format("rank {}, block {}", rank, block);
            }
        }
        for (std::uint32_t other = 0; other < n; ++other) {
            if (promise.operation == "barrier" && !machine.heard[rank][other])
                return fmt::format("rank {} left before {} came", rank, other);
            if (all_to_all && from[rank].count(static_cast<int>(other)) != (other == rank ? 0u : 1u))
                return fmt::format("rank {} got the block of {} {} times", rank, other,
                                   from[rank].count(static_cast<int>(other)));
        }
    }
    return "";
}

/// Returns zero, less than a byte per rank, a multiple of the ranks, and a size that they (except 7, 11 and 13) do not
/// divide.
inline std::vector<std::uint64_t> buffer_sizes(std::uint32_t ranks) {
    return {0, 1, ranks - 1, 10 * ranks, 1001};
}

/// Returns costs in which α, β and γ dominate in turn.
inline const std::vector<MessageCost>& message_costs() {
    static const std::vector<MessageCost> costs{{1, 0.01, 0}, {0.5, 0.25, 0.125}, {1e-3, 1, 2}};
    return costs;
}

/// Returns the same, with latency that travels.
inline MessageCost travelling(MessageCost cost) {
    cost.travels = true;
    return cost;
}

/// Checks that the clock equals the closed form, which there must be if latency blocks, and that it is not later if
/// latency travels. Returns true if there is a closed form then, too.
inline bool check_cost(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes) {
    bool both = true;
    for (const MessageCost& cost : message_costs()) {
        CAPTURE(ranks, bytes, algorithm.formula(false), cost.alpha_s, cost.gamma_s_per_B);
        const auto closed = algorithm.cost(ranks, bytes, cost);
        REQUIRE(closed);
        CHECK(StarClock(algorithm, ranks, bytes, cost).completion() == Approx(*closed).epsilon(1e-9).margin(1e-15));
        const auto travels = algorithm.cost(ranks, bytes, travelling(cost));
        const double clock = StarClock(algorithm, ranks, bytes, travelling(cost)).completion();
        CHECK(clock <= *closed * (1 + 1e-9) + 1e-15);
        CAPTURE(algorithm.formula(true));
        if (travels) CHECK(clock == Approx(*travels).epsilon(1e-9).margin(1e-15));
        both = both && travels;
    }
    return both;
}

using Bound = std::function<double(const MessageCost&)>;

/// Checks that there is no closed form if blocks differ, and that the clock is within these bounds.
inline void check_uneven(const CollectiveAlgorithm& algorithm, std::uint32_t ranks, std::uint64_t bytes,
                         const Bound& least, const Bound& most) {
    for (const MessageCost& cost : message_costs()) {
        CAPTURE(ranks, bytes, algorithm.formula(cost.travels), cost.alpha_s, cost.gamma_s_per_B);
        CHECK_FALSE(algorithm.cost(ranks, bytes, cost));
        const double clock = StarClock(algorithm, ranks, bytes, cost).completion(), rounding = 1e-9 * clock;
        CHECK(clock >= least(cost) - rounding);
        CHECK(clock <= most(cost) + rounding);
    }
}

}  // namespace syncline

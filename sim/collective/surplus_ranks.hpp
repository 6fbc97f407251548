#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/collective/program.hpp"

/// Folding, by which algorithms for 2^k ranks accept any number, as in MPICH. r = N - 2^⌊lg N⌋ ranks are in excess: of
/// the first 2r ranks each even one hands its data to the next, odd rank before the algorithm, and receives its result
/// afterwards. Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in
/// MPICH", Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
namespace syncline {

struct SurplusRanks {
    explicit SurplusRanks(std::uint32_t ranks) : places(std::bit_floor(ranks)), count(ranks - places) {}

    bool paired(std::uint32_t rank) const { return rank < 2 * count; }
    /// Returns true if the rank has no place: its partner rank+1 acts for it.
    bool without_place(std::uint32_t rank) const { return paired(rank) && rank % 2 == 0; }
    std::uint32_t place(std::uint32_t rank) const { return paired(rank) ? rank / 2 : rank - count; }
    std::uint32_t rank_at(std::uint32_t place) const { return place < count ? 2 * place + 1 : place + count; }
    /// Counts the ranks that places before `place` act for; places [a, b) act for ranks [ranks_before(a),
    /// ranks_before(b)). This is also the maximum number of ranks that any `place` consecutive places act for.
    std::uint32_t ranks_before(std::uint32_t place) const { return place + std::min(place, count); }

    /// Returns the blocks of all ranks that the `distance` places around `place` act for; places are grouped from 0.
    Blocks blocks_around(std::uint32_t place, std::uint32_t distance) const {
        const std::uint32_t first = place / distance * distance, block = ranks_before(first);
        return {block, ranks_before(first + distance) - block};
    }

    std::uint32_t places, count;
};

}  // namespace syncline

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/collective/program.hpp"

/// How algorithms for 2^k ranks take any number of them, as MPICH does it.
///
/// r = N - 2^⌊lg N⌋ ranks are too many: of the first 2r ranks each even one gives what it has to the odd one behind it
/// before, and gets what it needs from it after. The others have places 0 … 2^⌊lg N⌋-1, in order of their ranks.
/// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", Int.
/// J. High Perform. Comput. Appl. 19 (2005) 49-66.
namespace syncline {

struct Fold {
    explicit Fold(std::uint32_t ranks) : places(std::bit_floor(ranks)), extra(ranks - places) {}

    bool paired(std::uint32_t rank) const { return rank < 2 * extra; }
    /// Has no place: its partner rank+1 acts for it.
    bool folded(std::uint32_t rank) const { return paired(rank) && rank % 2 == 0; }
    std::uint32_t place(std::uint32_t rank) const { return paired(rank) ? rank / 2 : rank - extra; }
    std::uint32_t rank_at(std::uint32_t place) const { return place < extra ? 2 * place + 1 : place + extra; }
    /// The ranks that places before `place` act for; so those of places [a, b) are [ranks_before(a), ranks_before(b)).
    /// Also the most that any `place` places in a row act for.
    std::uint32_t ranks_before(std::uint32_t place) const { return place + std::min(place, extra); }

    /// The blocks of all ranks that the `distance` places around `place` act for; places are grouped from 0.
    Blocks blocks_around(std::uint32_t place, std::uint32_t distance) const {
        const std::uint32_t first = place / distance * distance, block = ranks_before(first);
        return {block, ranks_before(first + distance) - block};
    }

    std::uint32_t places, extra;
};

}  // namespace syncline

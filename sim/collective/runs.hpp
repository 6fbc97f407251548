#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/program.hpp"

/// Repetitions within a program.
namespace syncline {

/// Consecutive steps of a program. All steps of a run that `repeats` have the same peers, or peers that turn
/// (Message::turn), the same number of blocks to and from each, and all of them reduce or none does: only the numbers
/// of the blocks differ.
struct Run {
    std::uint32_t first = 0, end = 0;  ///< of the program's steps
    std::uint32_t taken = 0;           ///< number of steps, counting all repetitions
    bool repeats = false;
};

/// Minimum number of equal steps that count as a repetition.
inline constexpr std::uint32_t least_repeats = 3;

/// Returns the runs of a program, in order.
std::vector<Run> runs_of(const Program& program);

}  // namespace syncline

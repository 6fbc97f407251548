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

/// Returns true if in every step of a repeating run, among `members` members, a largest block is in flight whose sender
/// or receiver also had one in the step before: each member passes on what it has received, as in a ring, or gets the
/// same block every time. Then the steps take as long as if all blocks were as large.
bool keeps_largest(const Program& program, const Run& run, std::uint32_t members);

}  // namespace syncline

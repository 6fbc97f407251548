#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/program.hpp"

/// Where a program repeats itself.
namespace syncline {

/// Steps of a program that are taken one after the other. Those of a run that `repeats` have the same peers, or peers
/// that turn (Message::turn), and as many blocks to and from each, and all of them reduce or none: else only which
/// blocks they are differs.
struct Run {
    std::uint32_t first = 0, end = 0;  ///< of the program's steps
    std::uint32_t taken = 0;           ///< how many steps that is, with all repetitions
    bool repeats = false;
};

/// Fewer equal steps than these are no repetition.
inline constexpr std::uint32_t least_repeats = 3;

/// All of a program, in order.
std::vector<Run> runs_of(const Program& program);

/// Whether in every step of a repeating run, among so many members, there is a largest block under way whose sender or
/// receiver had one in the step before, too: where each passes on what has come, as in a ring, or gets the same block
/// every time. Then that many steps take as long as if all blocks were as large.
bool keeps_largest(const Program& program, const Run& run, std::uint32_t members);

}  // namespace syncline

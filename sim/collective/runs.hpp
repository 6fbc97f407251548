#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/program.hpp"

/// Where a program repeats itself.
namespace syncline {

/// Steps of a program that are taken one after the other. Those of a run that `repeats` have the same peers, and as
/// many blocks to and from each, and all of them reduce or none: only which blocks they are differs.
struct Run {
    std::uint32_t first = 0, end = 0;  ///< of the program's steps
    std::uint32_t taken = 0;           ///< how many steps that is, with all repetitions
    bool repeats = false;
};

/// Fewer equal steps than these are no repetition.
inline constexpr std::uint32_t least_repeats = 3;

/// All of a program, in order.
std::vector<Run> runs_of(const Program& program);

/// Whether in every step of a repeating run that starts with `step` the block which has come in the step before is sent
/// on, as in a ring: then the largest one is under way all the time.
bool relays(const Step& step, std::uint32_t blocks);

}  // namespace syncline

#pragma once

#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/lowering/pipeline.hpp"

namespace syncline {

/// A pass of the stage, from the start of its first task to the end of its last one; relative to the window's start.
struct TimedPass {
    std::size_t slot = 0;  ///< index in slots()
    double start_s = 0, end_s = 0;
};

/// Returns the passes that the first rank of `stage` runs in the measured iteration, in their order. Parts outside the
/// window are left out, and so are passes without a task that takes time.
std::vector<TimedPass> stage_passes(const TimelineView& view, const Lowered& training, std::uint32_t stage);

/// Returns the times at which that rank exchanges gradients or gathers weights, relative to the window's start; those
/// less than `resolution_s` apart are one.
std::vector<Interval> gradient_times(const TimelineView& view, const Lowered& training, std::uint32_t stage,
                                     double resolution_s);

}  // namespace syncline

#pragma once

#include <cstdint>

#include "sim/explain/window_parts.hpp"

/// What an explanation takes from a recording alone, of a training or of an execution trace.
namespace syncline {

/// Adds the window, the parts of the ranks, the exchanges of the last one, the critical path and the links.
void add_recording(Explanation& explanation, const Recorded& recorded, const TaskNames& names, const Cluster& cluster,
                   std::uint32_t ranks);

/// Moves graph and timeline of the recording, which must not be used afterwards, to a view.
void hand_over(ReplayedIteration& replayed, const Interval& window, const TaskNames& names, TimelineView& view);

}  // namespace syncline

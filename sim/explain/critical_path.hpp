#pragma once

#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/recorded.hpp"
#include "sim/explain/task_names.hpp"

/// The critical path of the window, followed backwards from the last update. A computing task began when the last of
/// its dependencies ended; a message began to flow when the later of sender and receiver was ready, and the path
/// continues on that side, or with the earlier message whose bytes the receiver waited for. Each segment begins when
/// the previous one ends, so their lengths add up to the window. If only tasks are recorded, an exchange is one segment
/// on the member that entered it last. Of several critical paths the one with the first dependency, or the sender's
/// side, is taken. Left out: which other messages shared a message's links; see LinkParts.
namespace syncline {

/// Returns the segments of the critical path in order of time.
std::vector<PathPiece> critical_path(const Recorded& recorded, const TaskNames& names);

/// Adds up the segments of the same kind and task, the largest sum first.
std::vector<PathShare> shares_of(const std::vector<PathPiece>& path, double window_s);

/// Adds up the segments of the same phase, the largest sum first.
std::vector<PhaseShare> phases_of(const std::vector<PathPiece>& path, double window_s);

/// Joins consecutive segments that differ only in time.
std::vector<PathPiece> joined(const std::vector<PathPiece>& path);

}  // namespace syncline

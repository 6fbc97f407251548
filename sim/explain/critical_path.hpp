#pragma once

#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/names.hpp"
#include "sim/explain/recorded.hpp"

/// The critical path of the window.
///
/// It is followed backwards from the last update: a computing task began when the last of its dependencies ended; a
/// message began to flow when the later of sender and receiver was ready, and the path continues on that side, or, if
/// the receiver was the later one and was ready when an earlier message's bytes were there, with that message. Each
/// segment begins when the previous one ends, so their lengths add up to the window. If only tasks are recorded, an
/// exchange is one segment on the member that entered it last.
///
/// Several critical paths of the same length may exist: among dependencies that end at the same time the first one is
/// taken, and if both sides of a message are ready at the same time, the sender's.
///
/// Left out: which other messages shared the links of a message; see LinkParts.
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

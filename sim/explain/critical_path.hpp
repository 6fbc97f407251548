#pragma once

#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/names.hpp"
#include "sim/explain/recorded.hpp"

/// The chain that decided when the window ends.
///
/// From the last update backwards: a task that computes began when the last of what it waited for had ended; a message
/// flowed from the moment when the later of its two sides had come to it, and that side goes on to be asked. Each piece
/// begins when the one before it ends, so that their lengths sum to the window. Where only tasks are recorded, an
/// exchange is one piece on the member that came to it last.
///
/// There may be several such chains, of the same length: of dependencies that ended at the same time the first is
/// taken, of a message's two sides that came at the same time the sender's.
///
/// Left out: whose other messages a message shared its links with; see LinkParts.
namespace syncline {

std::vector<PathPiece> critical_path(const Recorded& recorded, const Names& names);

/// Pieces of the same kind and thing: the largest first.
std::vector<PathShare> shares_of(const std::vector<PathPiece>& path, double window_s);

/// Pieces that follow each other and differ in time alone, as one.
std::vector<PathPiece> joined(const std::vector<PathPiece>& path);

}  // namespace syncline

#pragma once

#include <functional>
#include <optional>

#include "sim/analysis/experiment.hpp"

/// Folding of micro-batches that repeat: a training with many of them is simulated with two small numbers of them.
///
/// Let T(m) be the time of an iteration with m micro-batches. Two replays, of m and of m + d micro-batches, are
/// compared task by task on each stream. Let P = T(m + d) - T(m). If there is a span of time, from a to b ≥ a + P, such
/// that
///
/// - what begins before b is the same in both, at the same time after the iteration's start, and
/// - what ends after a in the shorter replay ends P later in the longer one, begins P later, and is as far from the end
///   of its stream, and the longer one has nothing else after a + P,
///
/// then all that happens in the longer replay from a to b happens again P later: it repeats for a whole period. It is
/// the shorter one with a period inserted, each further d micro-batches insert that period once more, and
///
///     T(m + k·d) = T(m + d) + (k - 1)·P;
///
/// times of the breakdown, messages and bytes grow in the same way. (A span shorter than P would not do: a rank that
/// gets ahead of the others by a little in each period may be idle at the end of both replays, and meet them on a link
/// only later.) Tried are d of one micro-batch and of as many as there are stages; interleaved stages permit only the
/// latter.
///
/// Times count as equal that differ by less than 1e-11 of the iteration and two picoseconds, and where two events
/// coincide, rounding decides which is first, here as in a replay of all. Otherwise the result is exact.
///
/// All replays together have at most two thirds of the micro-batches, or nothing is folded. Not folded either are
/// micro-batches of the schedule gpipe, which repeat in two places, those with random times (Noise), with ticks of a
/// clock or with orders on which ranks agree as they go, and those that are averaged over several iterations
/// (Lowered::window).
///
/// Left out: LinkUse::unused_ways, if another link becomes the busiest with all micro-batches.
namespace syncline {

/// Returns what a replay of `training` gives, from replays of fewer micro-batches by `replay`, if they repeat. Its
/// graph and recorded times are those of the longer one.
std::optional<ReplayedIteration> fold_micro_batches(const Lowered& training,
                                                    const std::function<ReplayedIteration(const Lowered&)>& replay);

}  // namespace syncline

#pragma once

#include <functional>
#include <optional>

#include "sim/analysis/experiment.hpp"

/// Folding of micro-batches that repeat: a training with many of them is simulated with two small numbers of them.
///
/// Let T(m) be the time of an iteration with m micro-batches. Two replays, of m and of m + d micro-batches, are
/// compared task by task on each stream. If there is a time t such that
///
/// - what begins before t is the same in both, at the same time after the iteration's start, and
/// - what ends after t in the shorter replay is what ends after t + P in the longer one, P = T(m + d) - T(m) later;
/// such
///   tasks are as far from the end of their stream,
///
/// then the longer replay is in the same state at t and at t + P: it is the shorter one with a period inserted. Each
/// further d micro-batches insert that period once more, as nothing else changes, and
///
///     T(m + k·d) = T(m + d) + (k - 1)·P;
///
/// times of the breakdown, messages and bytes grow in the same way. The least d is one micro-batch, and with
/// interleaved stages as many as there are stages. It is exact but for rounding: times count as equal that differ by
/// less than a billionth of the iteration, and where two events coincide, rounding decides which is first, here as in a
/// replay of all.
///
/// If there is no such t, twice as many are tried, as long as all replays together have at most two thirds of the
/// micro-batches. Not folded are micro-batches of the schedule gpipe, which repeat in two places, those with random
/// times (Noise), with ticks of a clock or with orders on which ranks agree as they go, and those that are averaged
/// over several iterations (Lowered::window).
namespace syncline {

/// Returns what a replay of `training` gives, from replays of fewer micro-batches by `replay`, if they repeat. Its
/// graph and recorded times are those of the longer one.
std::optional<ReplayedIteration> fold_micro_batches(const Lowered& training,
                                                    const std::function<ReplayedIteration(const Lowered&)>& replay);

}  // namespace syncline

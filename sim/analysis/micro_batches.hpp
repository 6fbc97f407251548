#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/analysis/experiment.hpp"

/// Folding of microbatches that repeat: a training with many of them is simulated with two small numbers of them.
///
/// Let T(m) be the time of an iteration with m microbatches, and P = T(m + d) - T(m). Replays of m and m + d are
/// compared task by task on each stream. If there is a span from a to b ≥ a + P such that
///
/// - what begins before b is the same in both, at the same time after the iteration's start, and
/// - what ends after a in the shorter replay begins and ends P later in the longer one, as far from the end of its
///   stream, and the longer one has nothing else after a + P,
///
/// then what happens in the longer replay from a to b happens again P later, each further d microbatches insert that
/// period once more, and
///
///     T(m + k·d) = T(m + d) + (k - 1)·P;
///
/// times of the breakdown, messages and bytes grow likewise. (A span shorter than P would not do: a rank that gains a
/// little in each period may meet others on a link only later.) Tried are d = 1 and d = stages; interleaved stages
/// permit only the latter. Times that differ by less than 1e-11 of the iteration and two picoseconds count as equal;
/// each inserted period adds as much to the error.
///
/// All replays together have at most two thirds of the microbatches, or nothing is folded. Not folded: gpipe, which
/// repeats in two places; random times (Noise), ticks of a clock, orders agreed on as ranks go; averages over several
/// iterations (Lowered::averaged). Left out: LinkUse::unused_ways, if another link becomes the busiest with all
/// microbatches.
namespace syncline {

/// Returns the training with another number of the same microbatches. A pass keeps the mean time that it has with all
/// of them, which contains a part of what happens once less than there are microbatches (accumulation.hpp).
Lowered with_micro_batches(Lowered training, std::int64_t count);

/// Returns the numbers of microbatches of the two replays that are compared first; empty: there are too few in
/// `training`, or they cannot repeat.
std::vector<std::int64_t> replayed_micro_batches(const Lowered& training);

/// Returns what a replay of `training` gives, from replays of fewer microbatches by `replay`, if they repeat. Its
/// graph and recorded times are those of the longer one.
std::optional<ReplayedIteration> fold_micro_batches(const Lowered& training,
                                                    const std::function<ReplayedIteration(const Lowered&)>& replay);

}  // namespace syncline

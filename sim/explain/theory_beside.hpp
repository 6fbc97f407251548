#pragma once

#include "sim/explain/explanation.hpp"
#include "sim/explain/recorded.hpp"

/// The closed form with its terms filled in, a lower bound, and in words where the simulation differs.
///
/// Lower bound: an iteration takes no less than a rank computes in it, and no less than any link's bytes take at its
/// full bandwidth; of these the largest. It is one of this traffic: another algorithm may send fewer bytes.
///
/// Differences are answers to questions of their own, and do not add up: contention is the iteration less the same
/// without it (simulated again); stragglers, less the same without noise (simulated again); overlap, less what hides
/// beside computation; pipeline fill, the bubble's part.
namespace syncline {

/// `explanation`: with all but its theory. `again`: simulates without noise, where there is any.
Theory theory_beside(const Lowered& training, const Recorded& recorded, const Explanation& explanation, bool again);

}  // namespace syncline

#pragma once

#include "sim/explain/explanation.hpp"
#include "sim/explain/recorded.hpp"

/// The closed form with its terms, a lower bound, and the causes of the difference to the simulation. The lower bound,
/// for this traffic, is the larger of the computation of the last rank and the time of the busiest link's bytes at full
/// bandwidth. The differences are independent and do not add up. Contention: the iteration time minus the time
/// simulated without contention. Stragglers: minus the time without noise. Overlap: minus the overlapped communication
/// time. Pipeline fill: the share of the bubble.
namespace syncline {

/// Returns the theory for `explanation`, which must be complete except for its theory. `again` allows simulating again
/// without noise, if there is noise.
Theory theory_beside(const Lowered& training, const Recorded& recorded, const Explanation& explanation, bool again);

}  // namespace syncline

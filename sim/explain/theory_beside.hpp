#pragma once

#include "sim/explain/explanation.hpp"
#include "sim/explain/recorded.hpp"

/// The closed form with the values of its terms, a lower bound, and the causes of the difference to the simulation.
///
/// The lower bound is the larger of two times: the computation of the last rank, and the time of the bytes of the
/// busiest link at full bandwidth. It applies to this traffic: another algorithm may send fewer bytes.
///
/// The differences are independent and do not add up. Contention: the iteration time minus the time simulated without
/// contention. Stragglers: minus the time simulated without noise. Overlap: minus the overlapped communication time.
/// Pipeline fill: the share of the bubble.
namespace syncline {

/// Returns the theory for `explanation`, which must be complete except for its theory. `again` allows simulating again
/// without noise, if there is noise.
Theory theory_beside(const Lowered& training, const Recorded& recorded, const Explanation& explanation, bool again);

}  // namespace syncline

#pragma once

#include "sim/lowering/lowered.hpp"

namespace syncline::planning {

/// Where a forecast time goes.
struct TimeShares {
    double computation_s = 0;  ///< of the stage that computes the most, with the optimizer's step
    double bubble_s = 0;       ///< what the iteration would take longer than that if all exchanges took no time
    double exchanges_s = 0;    ///< what exchanges add
    double total_s() const { return computation_s + bubble_s + exchanges_s; }
};

TimeShares shares_of(const Lowered& training);

}  // namespace syncline::planning

#pragma once

#include <vector>

#include "sim/planning/wire_costs.hpp"
#include "sim/training/lowered.hpp"

namespace syncline::planning {

/// Times of a pass of one micro-batch through one part of the model, from its start.
struct PassTime {
    double data_s = 0;      ///< its result can leave
    double computed_s = 0;  ///< its device is free
    double quiet_s = 0;     ///< its exchanges have ended
    bool exchanges_first = false;
};

/// The passes through a part of the model.
struct PartTime {
    PassTime forward, backward;
    PassTime later;              ///< gradients of weights, where the schedule computes them apart
    double compute_s = 0;        ///< of all, without exchanges
    double later_compute_s = 0;  ///< and of `later` alone
    std::vector<double>
        gradients_left;  ///< by layer of the part: from its gradients to the end of the pass that computes them
};

/// Returns the times of each part. See forecast.hpp.
std::vector<PartTime> part_times(const Lowered& training, WireCosts& wires);

}  // namespace syncline::planning

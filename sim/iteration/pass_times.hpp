#pragma once

#include <vector>

#include "sim/iteration/operations.hpp"
#include "sim/iteration/prices.hpp"

/// Clocks over the operations of a pass: the time of each is known when the program is, without simulating messages.
///
/// Each stream of a rank has a clock. An operation begins when its stream's clock, and the operations that it names,
/// allow it, and takes its seconds, or the price of its exchange. All ranks are taken to be like the slowest.
namespace syncline {

/// Times of a pass of one microbatch through one virtual stage, from its start.
struct PassTime {
    double data_s = 0;      ///< its result can leave
    double computed_s = 0;  ///< its device is free
    double quiet_s = 0;     ///< its exchanges have ended
    bool exchanges_first = false;
    double busy_s = 0, wire_s = 0;  ///< sums of its computations, and of its exchanges
};

/// The passes through a virtual stage.
struct VirtualStageTime {
    PassTime forward, backward;
    PassTime later;              ///< gradients of weights, where the schedule computes them apart
    PassTime whole;              ///< all gradients, where the schedule computes only some apart
    double compute_s = 0;        ///< of all, without exchanges
    double later_compute_s = 0;  ///< and of `later` alone
    double trailing_s = 0;       ///< and of what the backward pass computes after its result can leave
    /// By layer of the virtual stage: from its gradients to the end of the pass that computes them.
    std::vector<double> gradients_left;

    const PassTime& of(const Slot& slot) const {
        if (slot.forward) return forward;
        if (slot.gradients == Gradients::all && whole.computed_s > 0) return whole;
        return slot.gradients == Gradients::weights ? later : backward;
    }
};

/// Returns the times of each virtual stage.
std::vector<VirtualStageTime> virtual_stage_times(const Lowered& training, Prices& prices);

}  // namespace syncline

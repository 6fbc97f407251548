#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// What the algorithms over trees share: messages in lock-step, and what that costs.
///
/// The buffer goes over each edge of a tree in m segments that follow each other. Time is counted in steps, from 1; in
/// a step a rank sends at most one message and receives at most one, so that a step takes α + c·β with segments of c
/// bytes. In a broadcast the first segment crosses an edge in step a, and each further one k steps later. With the
/// latest first step A of all edges, A + k(m - 1) steps. A reduction is the broadcast backwards: the message of step s
/// goes the other way in step A + k(m - 1) + 1 - s and is added, so that a step takes α + c·β + c·γ. An all-reduce is a
/// reduction and then a broadcast, as the root has the sum before any other.
///
/// Ranks do not wait for a step's end, only for their own messages: what takes fewer steps than that is faster, and
/// each algorithm says when it is not. Source of the model: J. Pješivac-Grbić et al., "Performance analysis of MPI
/// collective operations", Cluster Computing 10 (2007) 127-143.
namespace syncline {

enum class TreeOperation { allreduce, broadcast, reduce };

/// What crosses one edge of a tree in a broadcast, as one of its ends sees it.
struct Hop {
    std::uint32_t peer = 0;
    std::uint32_t block = 0;  ///< the first segment; each further one is the next block
    std::uint32_t step = 1;   ///< in which the first segment crosses
    bool sends = false;
};

/// When segments cross the edges of a broadcast.
struct TreeSchedule {
    std::uint32_t period = 1;    ///< k, steps from one segment to the next
    std::uint32_t last = 0;      ///< A, the latest first step
    std::uint32_t segments = 1;  ///< m

    double steps() const { return last + static_cast<double>(period) * (segments - 1); }
};

/// What a rank with these hops does. As long with many segments as with few.
Program tree_program(TreeOperation operation, const Partition& partition, const std::vector<Hop>& hops,
                     const TreeSchedule& schedule);

/// Seconds of so many steps up, down, or both ways, with messages of `bytes`.
double tree_cost(TreeOperation operation, double steps, double bytes, const MessageCost& message);

/// The same for people: `steps` is what stands before the parentheses, `size` a message's size.
std::string tree_formula(TreeOperation operation, const std::string& steps, const std::string& size);

}  // namespace syncline

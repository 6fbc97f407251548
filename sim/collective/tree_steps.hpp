#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/collective/algorithm.hpp"

/// Common parts of algorithms over trees: messages in lock-step, and their cost.
///
/// The buffer crosses each edge in m consecutive segments. In a step, from 1, a rank sends at most one message and
/// receives at most one: α + c·β with segments of c bytes. In a broadcast the first segment crosses an edge in step a,
/// each further one k steps later; with the latest first step A of all edges there are A + k(m - 1) steps. A reduction
/// is the broadcast backwards: the message of step s goes the other way in step A + k(m - 1) + 1 - s, and a step takes
/// α + c·β + c·γ. An all-reduce is a reduction and then a broadcast. Ranks wait only for their own messages: some trees
/// are faster, and each algorithm states when the number is exact. Source: J. Pješivac-Grbić et al., "Performance
/// analysis of MPI collective operations", Cluster Computing 10 (2007) 127-143.
namespace syncline {

enum class TreeOperation { allreduce, broadcast, reduce };

TreeOperation tree_operation(const AlgorithmSpec& spec);

/// Traffic over one edge of a tree in a broadcast, as seen by one of its ends.
struct Hop {
    std::uint32_t peer = 0;
    std::uint32_t block = 0;  ///< the first segment; each further one is the next block
    std::uint32_t step = 1;   ///< step in which the first segment crosses
    bool sends = false;
};

/// Timing of segments over the edges of a broadcast.
struct TreeSchedule {
    std::uint32_t period = 1;    ///< k, steps from one segment to the next
    std::uint32_t last = 0;      ///< A, the latest first step
    std::uint32_t segments = 1;  ///< m

    double steps() const { return last + static_cast<double>(period) * (segments - 1); }
};

/// Returns the program of a rank with these hops. Its length does not depend on the number of segments.
Program tree_program(TreeOperation operation, const Partition& partition, const std::vector<Hop>& hops,
                     const TreeSchedule& schedule);

/// Returns the seconds of `steps` steps up, down, or both ways, with messages of `bytes`, if α blocks.
double tree_cost(TreeOperation operation, double steps, double bytes, const MessageCost& message);

/// Returns the same for display: `steps` is the factor before the parentheses, `size` the size of a message.
std::string tree_formula(TreeOperation operation, const std::string& steps, const std::string& size);

}  // namespace syncline

#pragma once

#include <cstdint>

#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// How long devices and hosts work in an iteration, all of them together.
namespace syncline {

struct Activity {
    double compute_s = 0;                ///< sum over ranks: the compute stream works
    double exposed_communication_s = 0;  ///< sum over ranks: an exchange is in flight, and the compute stream is idle
    /// Sum over nodes: a parameter server on its host adds up data, or a rank's processor works (in a trace).
    double host_s = 0;
};

/// Returns the activity of the measured iteration, or the mean over `period` of them: of each rank from its update to
/// its next one, of hosts in the window of the rank that finishes last. Ranks that are not built count as those that
/// stand for them.
Activity activity_of(const TaskGraph& graph, const Timeline& timeline, std::uint32_t period);

}  // namespace syncline

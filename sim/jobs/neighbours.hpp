#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/jobs_result.hpp"
#include "sim/replay/timeline.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Which job takes which link from which other job.
///
/// Between its start and its delivery a message is taken to flow evenly. In the time in which messages of jobs J and K
/// are on a link of bandwidth B, K takes the bytes b that its messages have there from J, which could have had the link
/// for b/B longer: that is J's delay if the link is always full then, and nothing else holds J back.
namespace syncline {

/// Returns for each part of a recorded replay what the others took from it in all its iterations: those that take most
/// first. `names`: by part. Links that every message has for itself, and shared times below 10^-9 of the replay, are
/// left out.
std::vector<std::vector<Neighbour>> neighbours_of(const TaskGraph& graph, const Timeline& timeline,
                                                  const std::vector<std::string>& names);

}  // namespace syncline

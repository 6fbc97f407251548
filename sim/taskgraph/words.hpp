#pragma once

#include "sim/taskgraph/task_graph.hpp"

/// Names of the phases of an iteration, in messages and in timelines.
namespace syncline {

const char* word(Phase phase);

}  // namespace syncline

#pragma once

#include "sim/taskgraph/task_graph.hpp"

/// What the phases of an iteration are called, in messages and in timelines.
namespace syncline {

const char* word(Phase phase);

}  // namespace syncline

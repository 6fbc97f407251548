#pragma once

#include "sim/taskgraph/task_graph.hpp"

/// Names of the phases and streams of an iteration, in messages, timelines and reports.
namespace syncline {

const char* word(Phase phase);
const char* word(StreamKind kind);

}  // namespace syncline

#pragma once

#include <string>
#include <vector>

#include "sim/execution/execution_trace.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// The reverse of trace_graph.hpp: what an iteration does, as an execution trace that other programs can replay.
///
/// Ranks are processes; those of servers and switches follow those of ranks. A collective becomes the sends and
/// receives of its algorithm, step by step, so that whoever replays it sends the same messages. Work on other streams
/// than the compute stream is that of the host, after what its stream did before. Notes say what is left out:
/// reductions, clocks, priorities, and what an iteration inherits from the one before. Without a note: the costs of a
/// transport, and what Task::seconds does not have, such as noise (the verb `export` notes this).
namespace syncline {

/// `names`: of tasks. Throws TraceError if a task waits for one of another process without a message, which no format
/// can say.
ExecutionTrace trace_of(const TaskGraph& graph, const std::vector<std::string>& names);

}  // namespace syncline

#pragma once

#include <string>
#include <vector>

#include "sim/lowering/chooser.hpp"
#include "sim/plan/trace_plan.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Makes a task graph of an execution trace.
///
/// - Computation of a rank runs on one compute stream, host nodes on another, copies on one for each stream of theirs,
///   collectives on one for each group, in the order of the nodes. A node that waits for others gives way to later ones
///   only where the order would close a cycle. A send or receive waits for its dependencies alone.
/// - A collective has the algorithm that the cluster's transport chooses for its size, as in a training, or else the
///   operation's default. Its pieces follow one another.
/// - A send is one message, which starts when its receive has been posted, or earlier (transport.eager). Messages
///   between two ranks with one tag are matched in the order of the nodes.
/// - Work in FLOP takes its time at the device's peak.
/// - Nodes that take no time are replaced by what they depend on.
///
/// Left out: several kernels at once on a device, whose recorded times include it.
namespace syncline {

/// Task::subject is the node's name, as an index into ExecutionTrace::names. Each rank ends with an update, which waits
/// for all its nodes. Throws TraceError if collectives of several ranks wait for each other, or if the transport
/// selects an algorithm that cannot be.
TaskGraph build_trace(const Cluster& cluster, const TracePlan& plan);

/// Returns who chooses the algorithms of an operation in a group with members at these places.
Chooser trace_chooser(const Cluster& cluster, const std::vector<Place>& places, const std::string& operation,
                      Terrains& terrains);

}  // namespace syncline

#pragma once

#include <initializer_list>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/recorded.hpp"
#include "sim/explain/task_names.hpp"

/// Time breakdown of ranks in the window, by rank, layer and exchange. Each instant counts for the first of these
/// activities: computation; communication (a message to or from the rank flows or is in its latency, or the rank pays
/// an overhead); reduction; copy; waiting, for members of an exchange or a task that the next computation depends on
/// (see Breakdown); idle. If only tasks are recorded, an exchange counts as waiting until its last member has entered
/// it, then as communication. Parameter servers on hosts of their own are not included.
namespace syncline {

/// Returns the breakdown by rank.
std::vector<RankParts> rank_parts(const Recorded& recorded, std::uint32_t ranks);

/// Returns the computation time of one rank by layer, in forward order, for the layers that it computes.
std::vector<LayerParts> layer_parts(const Recorded& recorded, ProcessId rank, const Model& model);

/// Returns the sum of the times of one rank's tasks of these phases.
double phases_s(const Recorded& recorded, ProcessId rank, std::initializer_list<Phase> phases);

/// Returns the exchanges of one rank, in order of their start.
std::vector<BucketParts> bucket_parts(const Recorded& recorded, ProcessId rank, const TaskNames& names);

}  // namespace syncline

#pragma once

#include <initializer_list>
#include <vector>

#include "sim/explain/explanation.hpp"
#include "sim/explain/recorded.hpp"
#include "sim/explain/task_names.hpp"
#include "sim/lowering/lowered.hpp"

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

/// What a rank's device computes in the window: the kernels of the compute model (kernels.hpp), each pass of each of
/// its layers once per microbatch, and waits for launches, what is computed again, the addition of gradients, and the
/// optimizer's step. What these do not explain of `compute_s` is one more row: GEMMs in chunks, jitter, stragglers,
/// and with documents of different lengths how much attention differs from the mean work, whose times its kernels have.
///
/// Returns the rows for one rank, the longest first; none if the compute model has no kernels. `compute_s` is its
/// computation time in a window of so many iterations, `step_s` the optimizer's part of it.
std::vector<KernelParts> kernel_parts(const Lowered& training, std::uint32_t rank, std::uint32_t iterations,
                                      double compute_s, double step_s);

/// Users of links over time, and the cost of sharing links. Alone on its route, a message of b bytes flows for b /
/// min(bandwidth of the narrowest link, limit of its connection at that size); additional time is lost to sharing and
/// counts for each link of the route that can be shared. A message's bytes are spread evenly over its transfer time.
///
/// Returns the ten most utilised links, the most utilised first. Lost time is 0 with SimGrid's own network models,
/// whose flows include latency and corrections. If messages are not recorded, only bytes and utilisation are known.
std::vector<LinkParts> link_parts(const Recorded& recorded, const TaskNames& names, const Cluster& cluster);

/// The critical path of the window, followed backwards from the last update. A computing task began when the last of
/// its dependencies ended; a message began to flow when the later of sender and receiver was ready, and the path
/// continues on that side, or with the earlier message whose bytes the receiver waited for. Each segment begins when
/// the previous one ends, so their lengths add up to the window. If only tasks are recorded, an exchange is one segment
/// on the member that entered it last. Of several critical paths the one with the first dependency, or the sender's
/// side, is taken. Left out: which other messages shared a message's links; see LinkParts.
///
/// Returns the segments of the critical path in order of time.
std::vector<PathPiece> critical_path(const Recorded& recorded, const TaskNames& names);

/// Adds up the segments of the same kind and task, the largest sum first.
std::vector<PathShare> shares_of(const std::vector<PathPiece>& path, double window_s);

/// Adds up the segments of the same phase, the largest sum first.
std::vector<PhaseShare> phases_of(const std::vector<PathPiece>& path, double window_s);

/// Joins consecutive segments that differ only in time.
std::vector<PathPiece> joined(const std::vector<PathPiece>& path);

/// The closed form with its terms, a lower bound, and the causes of the difference to the simulation. The lower bound,
/// for this traffic, is the larger of the computation of the last rank and the time of the busiest link's bytes at full
/// bandwidth. The differences are independent and do not add up. Contention: the iteration time minus the time
/// simulated without contention. Stragglers: minus the time without noise. Overlap: minus the overlapped communication
/// time. Pipeline fill: the share of the bubble.
///
/// Returns the theory for `explanation`, which must be complete except for its theory. `again` allows simulating again
/// without noise, if there is noise.
Theory theory_beside(const Lowered& training, const Recorded& recorded, const Explanation& explanation, bool again);

}  // namespace syncline

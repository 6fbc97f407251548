#pragma once

#include <string>

#include "sim/lowering/lowered.hpp"

/// Ranks on nodes of several kinds, or with shares of the batch by speed (batch_shares.hpp).
///
/// Ranks on devices of one kind with equal shares take equal times, which are worked out as if all ranks were like
/// them: their number of kinds is that of the nodes', or twice that where a remainder of the batch is shared. All ranks
/// have the same operations and exchanges, and wait for each other in these. Layers are divided among stages by the
/// times on the first kind that has ranks; a rank's speed is 1 by the time in which it computes an equal share. Left
/// out: layers, microbatches and algorithms that are chosen for a mixture; speeds that include the optimizer's step.
namespace syncline {

/// Gives kinds of nodes without ranks, which are at `places`, the device of one that has some, so that their devices do
/// not count; the first kind is then one with ranks.
void forget_unused_kinds(Cluster& cluster, const std::vector<Place>& places);

/// Sets what Lowered says of kinds, and the times of its arrangement, whose places, arrangement and cluster are set.
/// Also sets the times of the steps and of the input's copy.
void add_kinds(Lowered& training);

/// Gives the kinds the exchanges of the arrangement, whose algorithms are chosen.
void share_exchanges(Lowered& training);

/// Returns the time for which a rank of this kind and stage computes in an iteration, the optimizer's step included.
double computation_s(const RankKind& kind, std::uint32_t stage);

/// Returns the ranks by device, for readers: "512 × h100-sxm", "8 × h100-sxm + 8 × a100-sxm4-80gb".
std::string devices_text(const Lowered& training);

}  // namespace syncline

#pragma once

#include "sim/lowering/arrangement.hpp"

/// Groups of ranks that divide the state of weights among them: see Sharding.
namespace syncline {

/// Returns the ranks that shard the state of a layer: all `replicas`, or neighbours among them, as many as
/// Parallelism::shard_ranks says. A node's ranks are its devices, divided by the rows. Throws ParallelismError if
/// groups do not divide the replicas, or if only one of a node's ranks has the weights.
Grouping shards_of(const Cluster& cluster, const Plan& plan, const Layer& layer, const Grouping& replicas);

/// Returns the ranks that shard the state of a layer's experts, which the ranks of `group` divide: those of `shards`
/// that have the same experts, and the same part of each (`parts`: the ranks that have the same part of all). Nothing
/// is sharded if such a group has every expert only once (torchtitan). Throws ParallelismError if the sizes do not
/// divide each other.
Grouping expert_shards_of(const Plan& plan, const Layer& layer, const Grouping& parts, const Grouping& shards,
                          const Grouping& group);

/// Throws ParallelismError if the groups are to be those of nodes, and the ranks of a group are on several nodes.
void check_nodes(const Plan& plan, const Arrangement& arrangement, const std::vector<Place>& places);

}  // namespace syncline

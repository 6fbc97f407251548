#pragma once

#include "sim/collective/algorithm.hpp"
#include "sim/config/fields.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/training/placement.hpp"

/// What a scenario's training and `syncline collective` have in common: which algorithm, on which devices.
namespace syncline::config {

inline constexpr std::int64_t largest_group = 1 << 20;

/// The keys `overlay`, `segment` and `peers`.
void describe_algorithm(Fields& fields, AlgorithmSpec& algorithm);

/// The key `placement`.
void describe(Fields& fields, RankPlacement& placement);

/// Rejects what does not fit: the listed devices the cluster, the algorithm its parameters, the number of ranks or the
/// size of the largest buffer.
void check_placement(Fields& fields, const Cluster& cluster, const RankPlacement& placement, std::int64_t ranks);
void check_algorithm(Fields& fields, const AlgorithmSpec& algorithm, std::int64_t ranks, std::uint64_t bytes);
/// Rejects the algorithms' keys: a parameter server takes none of them.
void check_no_algorithm(Fields& fields);

}  // namespace syncline::config

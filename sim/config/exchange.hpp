#pragma once

#include "sim/collective/algorithm.hpp"
#include "sim/config/fields.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/training/plan.hpp"

/// What a scenario's training and `syncline collective` have in common: which algorithm, on which devices.
namespace syncline::config {

inline constexpr std::int64_t largest_group = 1 << 20;

/// The keys `overlay`, `segment` and `peers`.
void describe_algorithm(Fields& fields, AlgorithmSpec& algorithm);

/// The key `selection`.
void describe_selection(Fields& fields, std::optional<Selection>& selection);

/// The keys of an exchange alone, without its platform.
void describe(Fields& fields, CollectivePlan& plan);
/// Rejects what does not fit the cluster, which gets as many nodes as are needed.
void check_collective(Fields& fields, const CollectivePlan& plan, Cluster& cluster);

/// The key `fidelity`, and what platform it does not go with.
void describe(Fields& fields, Fidelity& fidelity);
void check_fidelity(Fields& fields, Fidelity fidelity, const Cluster& cluster);

/// The key `placement`.
void describe(Fields& fields, RankPlacement& placement);

/// Rejects what does not fit: the listed devices the cluster, the algorithm its parameters, the number of ranks or the
/// size of the largest buffer.
void check_placement(Fields& fields, const Cluster& cluster, const RankPlacement& placement, std::int64_t ranks);
void check_algorithm(Fields& fields, const AlgorithmSpec& algorithm, std::int64_t ranks, std::uint64_t bytes);
/// The same for the algorithms that a selection may choose for so many ranks, and the keys that it decides in place of.
void check_selection(Fields& fields, const Selection& selection, const std::string& operation, const Cluster& cluster,
                     std::int64_t ranks, std::uint64_t bytes);
/// Rejects the algorithms' keys: a parameter server takes none of them.
void check_no_algorithm(Fields& fields);

}  // namespace syncline::config
